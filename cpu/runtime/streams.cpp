/* Streams and events. Work is done at once, in the order of the calls; streams only carry rules,
 * unless CUCC_STREAMS=late. */
#include "watch.h"
#include "state.h"
#include <algorithm>
#include <thread>
#include <time.h>

namespace cucc
{
bool is_default_stream(cudaStream_t stream)
{
    return !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

cudaError_t check_stream(cudaStream_t stream)
{
    state_lock lock(state().lock);
    if (is_default_stream(stream) || state().streams.count(stream)) return cudaSuccess;
    return failed(cudaErrorInvalidResourceHandle);
}

cudaError_t check_event(cudaEvent_t event)
{
    state_lock lock(state().lock);
    return state().events.count(event) ? cudaSuccess : failed(cudaErrorInvalidResourceHandle);
}

/* ---- captures -------------------------------------------------------------------------------- */

thread_local cudaStream_t capture_stand_in;

cudaStream_t captured(cudaStream_t stream)
{
    return stream == cudaStreamPerThread && capture_stand_in ? capture_stand_in : stream;
}

bool is_capturing(cudaStream_t stream)
{
    stream = captured(stream);
    return !is_default_stream(stream) && stream->capture;
}

/* Work in the legacy default stream, which would have to wait for a capture. Streams of threads need not. */
bool waits_for_capture(cudaStream_t stream)
{
    return (!stream || stream == cudaStreamLegacy) && state().strict_captures > 0;
}

void spoil_capture(cudaStream_t stream)
{
    if (is_capturing(stream)) captured(stream)->capture->invalid = true;
}

cudaError_t refuse_capture(cudaStream_t stream)
{
    if (!is_capturing(stream)) return cudaSuccess;
    spoil_capture(stream);
    return failed(cudaErrorStreamCaptureUnsupported);
}

cudaGraphNode_t capture_node(cudaStream_t stream, std::function<void()> work,
                             cudaGraphNodeType type)
{
    stream = captured(stream);
    if (stream->capture->invalid) {
        failed(cudaErrorStreamCaptureInvalidated);
        return nullptr;
    }
    cudaGraphNode_t node = stream->capture->graph->add(type, work);
    node->after = stream->tail;
    stream->tail = {node};
    return node;
}

/* ---- streams that advance late --------------------------------------------------------------- */

late_streams &late()
{
    static late_streams *l = new late_streams;
    return *l;
}

/* Runs one piece of work of a stream that can advance; false if none can. */
bool advance_one()
{
    std::vector<cudaStream_t> ready;
    {
        state_lock lock(state().lock);
        for (cudaStream_t stream : state().streams)
            if (!stream->queue.empty() &&
                (!stream->queue.front().after || stream->queue.front().after->complete))
                ready.push_back(stream);
    }
    if (ready.empty()) return false;
    late().steps++;
    late().random = late().random * 6364136223846793005u + 1442695040888963407u;
    cudaStream_t stream = ready[(late().random >> 33) % ready.size()];
    std::function<void()> work = std::move(stream->queue.front().work);
    stream->queue.pop_front();
    int device = current_device;
    current_device = stream->device;
    if (work) work();
    current_device = device;
    return true;
}

/* Runs work until the condition holds. */
template <class F> void advance_until(F condition)
{
    late_lock lock(late().lock);
    while (!condition())
        if (!advance_one()) {
            fprintf(stderr, "cucc: streams wait for one another\n");
            abort();
        }
}

void finish(cudaStream_t stream)
{
    if (late().on && !is_default_stream(stream))
        advance_until([=] { return stream->queue.empty(); });
}

void finish_all()
{
    late_lock lock(late().lock);
    while (late().on && advance_one()) {
    }
}

/* Work in the legacy default stream begins when all is done that is in streams without
 * cudaStreamNonBlocking. */
void wait_for_blocking(cudaStream_t stream)
{
    std::vector<cudaStream_t> blocking;
    if (!late().on || stream == cudaStreamPerThread) return;
    {
        state_lock lock(state().lock);
        for (cudaStream_t other : state().streams)
            if (other->device == current_device && !(other->flags & cudaStreamNonBlocking))
                blocking.push_back(other);
    }
    for (cudaStream_t other : blocking) finish(other);
}

static double cpu_seconds()
{
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A host thread may wait without a call for what a callback or a kernel tells it. Then nobody asks for the
 * streams: they advance when the program has rested for a second, or has worked for ten without a call. */
static void lose_patience()
{
    const int rest = 4, work = 40; /* quarters of a second */
    uint64_t seen = 0;
    int resting = 0, waiting = 0;
    double used = cpu_seconds();
    for (;;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(250));
        std::unique_lock<std::recursive_mutex> lock(late().lock, std::try_to_lock);
        double now = cpu_seconds();
        bool same = lock.owns_lock() && late().steps == seen;
        waiting = same ? waiting + 1 : 0;
        resting = same && now - used < 0.01 ? resting + 1 : 0;
        used = now;
        if (!lock.owns_lock()) continue;
        seen = late().steps;
        if (resting >= rest || waiting >= work) finish_all();
    }
}

/* Called with the lock. */
static void wait_in_stream(cudaStream_t stream, const late_work &what)
{
    static bool patient = false;
    stream->queue.push_back(what);
    late().steps++;
    if (!patient) std::thread(lose_patience).detach();
    patient = true;
}

cudaError_t enqueue(cudaStream_t stream, std::function<void()> work, cudaGraphNodeType type)
{
    stream = captured(stream);
    if (is_capturing(stream)) return capture_node(stream, work, type) ? cudaSuccess : last_error;
    if (waits_for_capture(stream)) return failed(cudaErrorStreamCaptureImplicit);
    if (!late().on || is_default_stream(stream)) {
        wait_for_blocking(stream);
        work();
        return cudaSuccess;
    }
    late_lock lock(late().lock);
    wait_in_stream(stream, {work, nullptr});
    return cudaSuccess;
}
} // namespace cucc

using namespace cucc;

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

enum { least_priority = 0, greatest_priority = -5 };

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (cudaError_t error = enter()) return error;
    if (least) *least = least_priority;
    if (greatest) *greatest = greatest_priority;
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
    return cudaStreamCreateWithPriority(stream, flags, least_priority);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority)
{
    if (cudaError_t error = enter()) return error;
    if (!stream || flags > cudaStreamNonBlocking) return failed(cudaErrorInvalidValue);
    *stream = nullptr;
    if (planted("stream")) return failed(cudaErrorMemoryAllocation);
    state_lock lock(state().lock);
    priority = std::max((int)greatest_priority, std::min((int)least_priority, priority));
    *stream = new CUstream_st{current_device, flags, priority, {}, nullptr, {}, {}};
    state().streams.insert(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    if (cudaError_t error = enter()) return error;
    {
        state_lock lock(state().lock);
        if (!state().streams.count(stream)) return failed(cudaErrorInvalidResourceHandle);
    }
    if (is_capturing(stream)) {
        cucc_capture &capture = *stream->capture;
        capture.invalid |= capture.origin == stream;
        capture.left.insert(capture.left.end(), stream->tail.begin(), stream->tail.end());
    }
    finish(stream); /* without the lock, which its work takes after others */
    late_lock advancing(late().lock);
    state_lock lock(state().lock);
    state().streams.erase(stream);
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_stream(stream)) return error;
    if (cudaError_t error = refuse_capture(stream)) return error;
    if (is_default_stream(stream)) wait_for_blocking(stream);
    finish(stream);
    host_waits(stream);
    return enter();
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_stream(stream)) return error;
    if (cudaError_t error = refuse_capture(stream)) return error;
    if (is_default_stream(stream)) return cudaSuccess;
    late_lock lock(late().lock);
    if (!stream->queue.empty()) advance_one();
    if (!stream->queue.empty()) return failed(cudaErrorNotReady);
    host_waits(stream);
    return enter();
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_stream(stream)) return error;
    if (cudaError_t error = check_event(event)) return error;
    stream = captured(stream);
    if (event->capture) {
        if (is_default_stream(stream)) return failed(cudaErrorStreamCaptureImplicit);
        if (stream->capture && stream->capture != event->capture)
            return failed(cudaErrorStreamCaptureMerge);
        stream->capture = event->capture;
        stream->tail.insert(stream->tail.end(), event->tail.begin(), event->tail.end());
        return cudaSuccess;
    }
    if (is_capturing(stream)) return failed(cudaErrorStreamCaptureIsolation);
    if (event->last) stream_waits(stream, *event->last);
    if (!event->last || event->last->complete || is_default_stream(stream)) return cudaSuccess;
    late_lock lock(late().lock);
    wait_in_stream(stream, {nullptr, event->last});
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    if (cudaError_t error = enter()) return error;
    if (!event) return failed(cudaErrorInvalidValue);
    *event = nullptr;
    if (planted("event")) return failed(cudaErrorMemoryAllocation);
    state_lock lock(state().lock);
    *event = new CUevent_st{current_device,
                            !(flags & cudaEventDisableTiming),
                            nullptr,
                            nullptr,
                            {},
                            (flags & cudaEventInterprocess) != 0};
    state().events.insert(*event);
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    if (cudaError_t error = enter()) return error;
    state_lock lock(state().lock);
    if (!state().events.erase(event)) return failed(cudaErrorInvalidResourceHandle);
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_stream(stream)) return error;
    if (cudaError_t error = check_event(event)) return error;
    stream = captured(stream);
    int device = is_default_stream(stream) ? current_device : stream->device;
    if (event->device != device) return failed(cudaErrorInvalidResourceHandle);
    if (is_capturing(stream)) {
        event->capture = stream->capture;
        event->tail = stream->tail;
        return cudaSuccess;
    }
    event->capture = nullptr;
    if (event->of_processes) finish(stream); /* they do not see this one's queues */
    std::shared_ptr<recording> now(new recording{});
    stream_records(stream, *now);
    cudaError_t error = enqueue(stream, [now] {
        now->complete = true;
        now->time = clock_type::now();
    });
    event->last = now; /* only now: without late streams it is complete when others see it */
    return error;
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int)
{
    return cudaEventRecord(event, stream);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_event(event)) return error;
    if (event->capture) return failed(cudaErrorCapturedEvent);
    std::shared_ptr<recording> last = event->last;
    if (last) advance_until([=] { return last->complete; });
    if (last) host_waits_for_event(*last);
    return enter();
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_event(event)) return error;
    if (event->capture) return failed(cudaErrorCapturedEvent);
    late_lock lock(late().lock);
    if (event->last && !event->last->complete) advance_one();
    if (event->last && !event->last->complete) return failed(cudaErrorNotReady);
    if (event->last) host_waits_for_event(*event->last);
    return enter();
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t stop)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_event(start)) return error;
    if (cudaError_t error = check_event(stop)) return error;
    if (!milliseconds) return failed(cudaErrorInvalidValue);
    if (start->capture || stop->capture) return failed(cudaErrorCapturedEvent);
    if (!start->last || !stop->last || !start->timed || !stop->timed)
        return failed(cudaErrorInvalidResourceHandle);
    if (!start->last->complete || !stop->last->complete) return failed(cudaErrorNotReady);
    host_asks_for_time(*stop->last);
    *milliseconds =
        std::chrono::duration<float, std::milli>(stop->last->time - start->last->time).count();
    return cudaSuccess;
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_stream(stream)) return error;
    if (!priority) return failed(cudaErrorInvalidValue);
    *priority = is_default_stream(stream) ? (int)least_priority : stream->priority;
    return cudaSuccess;
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_stream(stream)) return error;
    if (!flags) return failed(cudaErrorInvalidValue);
    *flags = is_default_stream(stream) ? cudaStreamDefault : stream->flags;
    return cudaSuccess;
}

/* ---- functions of the host in streams -------------------------------------------------------- */

/* What a library does on the device: in a graph, each time that it is launched. */
cudaError_t cucc::put_into_stream(cudaStream_t stream, std::function<void()> work)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_stream(stream)) return error;
    return enqueue(stream, std::move(work));
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_stream(stream)) return error;
    if (!function) return failed(cudaErrorInvalidValue);
    uint64_t begun = host_calls_back();
    return enqueue(
        stream,
        [=] {
            called_back here(stream, begun);
            function(data);
        },
        cudaGraphNodeTypeHost);
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void *data,
                                  unsigned int flags)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_stream(stream)) return error;
    if (cudaError_t error = refuse_capture(stream)) return error;
    if (!function || flags) return failed(cudaErrorInvalidValue);
    uint64_t begun = host_calls_back();
    return enqueue(stream, [=] {
        called_back here(stream, begun);
        function(stream, cudaSuccess, data);
    });
}

/* ---- attributes: they change no result ------------------------------------------------------- */

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   const cudaLaunchAttributeValue *value)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_stream(stream)) return error;
    if (!value) return failed(cudaErrorInvalidValue);
    if (attribute != cudaLaunchAttributeAccessPolicyWindow) return cudaSuccess;
    const cudaAccessPolicyWindow &window = value->accessPolicyWindow;
    bool right = window.hitRatio >= 0 && window.hitRatio <= 1 &&
                 window.missProp != cudaAccessPropertyPersisting &&
                 window.num_bytes <= (size_t)environment().gpu.l2_bytes / 4 * 3;
    if (!right) return failed(cudaErrorInvalidValue);
    if (!is_default_stream(stream)) stream->window = *value;
    return cudaSuccess;
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   cudaLaunchAttributeValue *value)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_stream(stream)) return error;
    if (!value || attribute != cudaLaunchAttributeAccessPolicyWindow)
        return failed(cudaErrorInvalidValue);
    *value = is_default_stream(stream) ? cudaLaunchAttributeValue() : stream->window;
    return cudaSuccess;
}
