/* What streams know of one another under --check: two kernels or copies that were begun in different streams
 * and reach the same memory are a fault if neither must wait for the other, in whatever order they ran. Uses
 * check_state.h. */
#include "check_state.h"
#include "../runtime/state.h"

namespace cucc
{
std::atomic<uint64_t> host_time{1};

uint64_t host_now()
{
    return ++host_time;
}

uint64_t host_calls_back()
{
    return host_now();
}

/* Up to when what was begun in each stream is known to be done; ALL: in every one. */
struct stream_knowledge {
    uint64_t all = 0;
    std::map<cudaStream_t, uint64_t> of;

    void learn(const stream_knowledge &other)
    {
        all = std::max(all, other.all);
        for (auto &o : other.of) learn(o.first, o.second);
    }
    void learn(cudaStream_t stream, uint64_t when)
    {
        uint64_t &known = of[stream];
        known = std::max(known, when);
    }
    bool has(cudaStream_t stream, uint64_t when) const
    {
        auto found = of.find(stream);
        return all >= when || (found != of.end() && found->second >= when);
    }
};

/* A kernel or a copy that the host has called for. */
struct begun_work {
    cudaStream_t stream;
    stream_knowledge known;
};
/* A kernel that has run: the words that it reached have its generation. */
struct past_launch {
    uint16_t generation;
    uint64_t begun;
    std::string what;
};
struct known_stream : stream_knowledge {
    bool blocking = false; /* it and the legacy default stream, null, wait for one another */
};
struct all_streams {
    std::recursive_mutex lock;
    stream_knowledge host;
    std::map<cudaStream_t, known_stream> of;
    std::map<uint64_t, begun_work> work; /* by when it was begun */
    std::deque<past_launch> launches;
};
static all_streams &streams()
{
    static auto *all = new all_streams;
    return *all;
}
using stream_lock = std::lock_guard<std::recursive_mutex>;

static known_stream &known_by(cudaStream_t &stream)
{
    if (stream == cudaStreamLegacy) stream = nullptr;
    known_stream &k = streams().of[stream];
    k.blocking =
        stream == cudaStreamPerThread || (stream && !(stream->flags & cudaStreamNonBlocking));
    return k;
}

/* What must be done before the next work of the stream begins. */
static const stream_knowledge &begins_after(cudaStream_t &stream)
{
    all_streams &s = streams();
    known_stream &k = known_by(stream);
    k.learn(s.host);
    for (auto &other : s.of) {
        if (stream ? !k.blocking || other.first : !other.second.blocking) continue;
        k.learn(other.second);
        k.learn(other.first, host_time);
    }
    return k;
}

uint64_t begin_in(cudaStream_t stream)
{
    const size_t most = 8192;
    stream_lock lock(streams().lock);
    auto &work = streams().work;
    const stream_knowledge &known = begins_after(stream);
    if (work.size() == most) work.erase(work.begin(), std::next(work.begin(), most / 2));
    uint64_t now = host_now();
    work[now] = {stream, known};
    return now;
}

/* ---- events, and what the host waits for ------------------------------------------------------ */

void stream_records(cudaStream_t stream, recording &event)
{
    stream_lock lock(streams().lock);
    auto known = std::make_shared<stream_knowledge>(begins_after(stream));
    event.begun = host_now();
    known->learn(stream, event.begun);
    event.stream = stream;
    event.known = known;
}

static const stream_knowledge &told_by(const recording &event)
{
    return *(const stream_knowledge *)event.known.get();
}

void stream_waits(cudaStream_t stream, const recording &event)
{
    stream_lock lock(streams().lock);
    if (event.known) known_by(stream).learn(told_by(event));
}

void wait_for_event(const recording &event)
{
    stream_lock lock(streams().lock);
    if (event.known) streams().host.learn(told_by(event));
}

void wait_for_stream(cudaStream_t stream)
{
    stream_lock lock(streams().lock);
    streams().host.learn(begins_after(stream));
    streams().host.learn(stream, host_now());
}

void wait_for_all_streams()
{
    stream_lock lock(streams().lock);
    streams().host.all = host_now();
}

void host_asks_for_time(const recording &event)
{
    stream_lock lock(streams().lock);
    if (!event.known || streams().host.has(event.stream, event.begun)) return;
    std::string line = at(calling_code());
    found("early", "", "the host asks at " + line + " when an event was that may still be to come",
          "cudaEventSynchronize() before " + line);
}

/* ---- what reaches the same memory ------------------------------------------------------------- */

static bool is_ordered(uint64_t a, uint64_t b)
{
    auto &work = streams().work;
    auto first = work.find(std::min(a, b)), second = work.find(std::max(a, b));
    if (first == work.end() || second == work.end()) return true; /* long ago, or in a graph */
    return first->second.stream == second->second.stream ||
           second->second.known.has(first->second.stream, first->first);
}

static void report_order(const watched &m, uint64_t a, const std::string &what, uint64_t b,
                         const std::string &other)
{
    found("order", "",
          (a < b ? what : other) + " and, later, " + (a < b ? other : what) +
              " reach the same memory (allocated at " + at(m.allocated_at) +
              ") in streams that nothing orders",
          "cudaStreamSynchronize() between them, an event that the other stream waits for, or one "
          "stream");
}

static std::vector<uint16_t> unordered_launches(uint64_t begun)
{
    std::vector<uint16_t> all;
    if (streams().of.size() < 2) return all;
    for (const past_launch &p : streams().launches)
        if (!is_ordered(p.begun, begun)) all.push_back(p.generation);
    return all;
}

static bool is_among(const std::vector<uint16_t> &generations, const access_record &r)
{
    return std::find(generations.begin(), generations.end(), r.generation) != generations.end();
}

static const past_launch *find_launch(uint16_t generation)
{
    for (const past_launch &p : streams().launches)
        if (p.generation == generation) return &p;
    return nullptr;
}

static std::string kernel_of(const launch_state &launch)
{
    return std::string("kernel ") + launch.request.kernel + " of " + at(launch.check->launched_at);
}

void launch_in_order(launch_state &launch)
{
    const size_t most = 64;
    stream_lock lock(streams().lock);
    launch_check &l = *launch.check;
    auto &launches = streams().launches;
    l.unordered = unordered_launches(l.launched);
    if (!launches.empty() && launches.back().generation > l.generation) launches.clear();
    if (launches.size() == most) launches.pop_front();
    launches.push_back({l.generation, l.launched, kernel_of(launch)});
}

/* A kernel reaches a word. What only one of both reads, or both change by atomics, is no conflict. */
const access_record *unordered_access(const access_event &e, const word_record &word,
                                      unsigned int mask)
{
    for (const access_record *r : {&word.writer, &word.reader, &word.other}) {
        if (!e.write && r != &word.writer) break;
        if ((r->mask & mask) && !(e.strong && r->strong) &&
            is_among(e.w.launch->check->unordered, *r))
            return r;
    }
    return nullptr;
}

void report_unordered(const worker &w, const watched &m, uint16_t generation)
{
    stream_lock lock(streams().lock);
    if (const past_launch *p = find_launch(generation))
        report_order(m, p->begun, p->what, w.launch->check->launched, kernel_of(*w.launch));
    w.launch->check->unordered.clear(); /* told */
}

/* Copies that nothing orders with the launch, among those that reached the memory. */
void find_unordered_copies(watched &m, const launch_check &l)
{
    stream_lock lock(streams().lock);
    m.looked_through = l.launched;
    m.unordered.clear();
    for (const watched::copy &c : m.copies)
        if (!is_ordered(c.begun, l.launched)) m.unordered.push_back(c);
}

void meet_copies(const access_event &e, watched &m, uintptr_t begin, uintptr_t end)
{
    for (const watched::copy &c : m.unordered) {
        if (!(e.write || c.write) || begin >= c.end || c.begin >= end) continue;
        report_order(m, c.begun, c.what, e.w.launch->check->launched, kernel_of(*e.w.launch));
        m.unordered.clear(); /* told */
        return;
    }
}

static void copy_meets(watched &m, const watched::copy &copy)
{
    for (const watched::copy &c : m.copies)
        if ((copy.write || c.write) && copy.begin < c.end && c.begin < copy.end &&
            !is_ordered(copy.begun, c.begun))
            return report_order(m, copy.begun, copy.what, c.begun, c.what);
    std::vector<uint16_t> launches = unordered_launches(copy.begun);
    if (launches.empty() || !m.words) return;
    for (uintptr_t i = copy.begin / 4 - m.begin / 4; i < (copy.end + 3) / 4 - m.begin / 4; i++) {
        const word_record &word = m.words[i];
        for (const access_record *r : {&word.writer, &word.reader, &word.other}) {
            if (!copy.write && r != &word.writer) break;
            if (!is_among(launches, *r)) continue;
            const past_launch *p = find_launch(r->generation);
            return report_order(m, copy.begun, copy.what, p->begun, p->what);
        }
    }
}

void copy_in_order(const void *to, const void *from, size_t size, uint64_t begun,
                   const char *function, uint32_t code)
{
    const size_t most = 64;
    const uintptr_t ends[] = {(uintptr_t)from, (uintptr_t)to};
    stream_lock lock(streams().lock);
    for (int i = 0; i < 2; i++) {
        watched *m = find_watched(all_watched(), ends[i]);
        if (!m) continue;
        watched::copy copy = {begun, i == 1, ends[i], std::min(ends[i] + size, m->end),
                              std::string(function) + " of " + at(code)};
        copy_meets(*m, copy);
        if (m->copies.size() == most) m->copies.pop_front();
        m->copies.push_back(copy);
    }
}
} // namespace cucc
