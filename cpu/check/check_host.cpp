/* The host's mistakes: errors that nobody looks at, memory that kernels or copies still work on, device memory
 * that it reads itself, and its own memory that kernels are given. */
#include "check_state.h"
#include "../runtime/state.h"
#include <malloc.h>
#include <unordered_map>

namespace cucc
{
static thread_local uint64_t callback_began; /* 0: outside of callbacks */

called_back::called_back(cudaStream_t stream, uint64_t begun) : outer(callback_began)
{
    host_waits(stream);
    callback_began = begun;
}

called_back::~called_back()
{
    callback_began = outer;
}

/* The findings of the host's own code by where it is. What is known has come once more. */
static std::unordered_map<uint32_t, uint64_t> &known_places()
{
    static auto *all = new std::unordered_map<uint32_t, uint64_t>;
    return *all;
}
static bool is_new_place(uint32_t code)
{
    auto known = known_places().find(code);
    if (known == known_places().end()) return true;
    found_again(known->second);
    return false;
}

/* ---- what the host reaches itself ------------------------------------------------------------ */

static const char *verb(bool write)
{
    return write ? "writes" : "reads";
}

/* Host threads, and the streams, which may advance beside them. */
static std::recursive_mutex &busy_lock()
{
    static auto *lock = new std::recursive_mutex;
    return *lock;
}

static void begin_work(watched &m, const watched::work &what)
{
    const size_t most = 256;
    if (m.busy.size() == most) m.busy.pop_front();
    m.busy.push_back(what);
}

/* Device memory that nobody has written, copied to the host: the bytes [first, END) there, by the first. */
struct unwritten_copy {
    uintptr_t end, from;
    uint32_t copied_at;
};
static std::map<uintptr_t, unwritten_copy> &unwritten_copies()
{
    static auto *all = new std::map<uintptr_t, unwritten_copy>;
    return *all;
}
static std::atomic<uintptr_t> unwritten_low{UINTPTR_MAX}, unwritten_high{0};

/* Takes what lies in [begin, end) out of them. */
static void take_out(uintptr_t begin, uintptr_t end)
{
    auto &all = unwritten_copies();
    auto next = all.lower_bound(begin);
    if (next != all.begin() && std::prev(next)->second.end > begin) --next;
    while (next != all.end() && next->first < end) {
        uintptr_t first = next->first;
        unwritten_copy old = next->second;
        next = all.erase(next);
        if (first < begin) all[first] = {begin, old.from, old.copied_at};
        if (old.end > end) all[end] = {old.end, old.from + (end - first), old.copied_at};
    }
}

void written_on_host(uintptr_t to, size_t size)
{
    if (to >= unwritten_high || to + size <= unwritten_low) return;
    std::lock_guard<std::recursive_mutex> lock(busy_lock());
    take_out(to & ~(uintptr_t)3, (to + size + 3) & ~(uintptr_t)3);
}

void copied_unwritten(uintptr_t to, uintptr_t from, size_t size, uint32_t code)
{
    const size_t most = 65536;
    std::lock_guard<std::recursive_mutex> lock(busy_lock());
    if (unwritten_copies().size() >= most) return;
    unwritten_copies()[to] = {to + size, from, code};
    if (to < unwritten_low) unwritten_low = to;
    if (to + size > unwritten_high) unwritten_high = to + size;
}

/* Code that is not watched may have written there since: it is a fault as long as the bytes are those that
 * device memory is filled with. */
static bool is_unwritten_on_host(uintptr_t address, size_t size, uint32_t code)
{
    const uint32_t unwritten = 0xffffffff;
    if (size > sizeof(double2)) return false; /* a copy of much, of which parts may be unwritten */
    if (address < unwritten_low || address >= unwritten_high) return false;
    std::lock_guard<std::recursive_mutex> lock(busy_lock());
    auto next = unwritten_copies().upper_bound(address);
    if (next == unwritten_copies().begin() || address >= (--next)->second.end) return false;
    unwritten_copy copy = next->second;
    uintptr_t from = copy.from + (address - next->first);
    uint32_t value = unwritten;
    memcpy(&value, (const void *)address, std::min<size_t>(4, copy.end - address));
    if (value != unwritten || !is_new_place(code)) return false;
    const watched *m = find_watched(all_watched(), from);
    known_places()[code] =
        found("unwritten", "",
              "the host reads at " + at(code) + " what was copied at " + at(copy.copied_at) +
                  " from " +
                  (m ? "byte " + std::to_string(from - m->begin) + " of " + name_of(*m)
                     : "device memory") +
                  ", which nobody has written",
              "a grid that covers all of it, and a kernel that does not fail");
    return true;
}

/* The host's own indices may leave memory that both reach. */
static void host_leaves(uintptr_t address, bool write, uint32_t code)
{
    long offset;
    const watched *m = piece_beside(all_watched(), address, offset);
    if (!m || !is_new_place(code)) return;
    known_places()[code] =
        found("bounds", "",
              std::string("the host ") + verb(write) + " byte " + std::to_string(offset) + " of " +
                  name_of(*m) + (m->freed ? ", which were freed," : "") + " at " + at(code),
              "a check of the index against the size");
}

/* Called at each access of the host's code. */
void host_access(uintptr_t address, size_t size, int kind, uint32_t code)
{
    bool write = (kind & access_writes) != 0;
    const auto &all = all_watched();
    if (write) written_on_host(address, size);
    if (!write && is_unwritten_on_host(address, size, code)) return;
    if (all.empty() || address < all.front()->begin - check_guard ||
        address >= all.back()->end + check_guard)
        return;
    watched *m = find_watched(all, address);
    if (!m) host_leaves(address, write, code);
    if (!m || m->constant) return;
    if (m->device >= 0) {
        if (!is_new_place(code)) return;
        if (m->symbol)
            known_places()[code] = found("host", "",
                                         std::string("the host ") + verb(write) +
                                             " a __device__ variable at " + at(code),
                                         "cudaMemcpyFromSymbol and cudaMemcpyToSymbol");
        else
            known_places()[code] =
                found("host", "",
                      std::string("the host ") + verb(write) + (m->freed ? " freed" : "") +
                          " device memory at " + at(code) + " (allocated at " +
                          at(m->allocated_at) + ")",
                      "cudaMemcpy, or managed memory");
        return;
    }
    static thread_local struct {
        uintptr_t address;
        uint32_t code;
    } last_load;
    if (kind & access_compares && last_load.address == address) guess_is_checked(last_load.code);
    if (kind & access_strong)
        return; /* atomic or volatile: the program knows that others are there */
    if (!write) last_load = {address, code};
    if (!write && size >= sizeof(void *)) host_gets((const void *)address, size);
    std::lock_guard<std::recursive_mutex> lock(busy_lock());
    m->touched = callback_began ? callback_began : host_now();
    m->touched_at = code;
    m->touched_address = address;
    m->touched_to_write = write;
    for (const watched::work &w : m->busy) {
        if (!(write || w.writes) || address < w.begin || address >= w.end) continue;
        if (!is_new_place(code)) return;
        known_places()[code] =
            found("early", "",
                  std::string("the host ") + verb(write) + " memory at " + at(code) + " that " +
                      w.what + " may still " + (w.writes ? "write" : "read"),
                  "cudaDeviceSynchronize() or cudaStreamSynchronize() before " + at(code),
                  write ? 0 : code);
        return;
    }
}

/* A kernel reaches memory that the host reaches, too. */
void host_may_conflict(const access_event &e, watched &m, uintptr_t address, uintptr_t end)
{
    const launch_check &l = *e.w.launch->check;
    std::lock_guard<std::recursive_mutex> lock(busy_lock());
    watched::work *own = nullptr;
    for (watched::work &w : m.busy)
        if (w.launched == l.launched && w.writes == e.write) own = &w;
    if (!own) {
        begin_work(m, {std::string("kernel ") + e.w.launch->request.kernel + " of " +
                           at(l.launched_at),
                       e.write, l.launched == UINT64_MAX, e.w.launch->request.stream, address, end,
                       l.launched});
        own = &m.busy.back();
    }
    own->begin = std::min(own->begin, address);
    own->end = std::max(own->end, end);
    if (m.touched_address < (address & ~(uintptr_t)3) || m.touched_address >= end) return;
    if (m.touched <= l.launched || !(e.write || m.touched_to_write) || !is_new_place(m.touched_at))
        return;
    known_places()[m.touched_at] =
        found("early", "",
              std::string("the host ") + verb(m.touched_to_write) + " memory at " +
                  at(m.touched_at) + " that kernel " + e.w.launch->request.kernel + " of " +
                  at(l.launched_at) + " may still " + (e.write ? "write" : "read"),
              "cudaDeviceSynchronize() or cudaStreamSynchronize() before " + at(m.touched_at),
              m.touched_to_write ? 0 : m.touched_at);
}

void host_copies(const void *to, size_t to_size, const void *from, size_t from_size,
                 const char *function, cudaStream_t stream)
{
    if (!strstr(function, "Async")) return host_waits(nullptr);
    if (!find_watched(all_watched(), (uintptr_t)to))
        return host_waits(stream); /* pageable memory */
    const uintptr_t ends[] = {(uintptr_t)from, (uintptr_t)to};
    const size_t sizes[] = {from_size, to_size};
    std::lock_guard<std::recursive_mutex> lock(busy_lock());
    for (int i = 0; i < 2; i++) {
        watched *m = find_watched(all_watched(), ends[i]);
        if (!m || m->device >= 0) continue;
        begin_work(*m, {std::string(function) + " of " + at(calling_code()), i == 1, false, stream,
                        ends[i], ends[i] + sizes[i], 0});
    }
}

/* What the host has waited for is no longer at work; null: all. */
static void host_is_idle(cudaStream_t stream)
{
    std::lock_guard<std::recursive_mutex> lock(busy_lock());
    auto is_over = [=](const watched::work &w) {
        return is_default_stream(stream) || w.stream == stream || w.anywhere;
    };
    for (watched *m : all_watched())
        m->busy.erase(std::remove_if(m->busy.begin(), m->busy.end(), is_over), m->busy.end());
}

void host_waits_for_event(const recording &event)
{
    host_is_idle(nullptr);
    wait_for_event(event);
}

void host_waits(cudaStream_t stream)
{
    host_is_idle(stream);
    wait_for_stream(stream);
}

void host_waits_for_all()
{
    host_is_idle(nullptr);
    wait_for_all_streams();
}

/* ---- memory of the host in kernels ----------------------------------------------------------- */

/* What libraries and the runner allocate for a kernel is on the host's heap. */
static std::map<uintptr_t, size_t> &allocated_in_kernels()
{
    static auto *all = new std::map<uintptr_t, size_t>;
    return *all;
}
static std::mutex &heap_lock()
{
    static std::mutex *lock = new std::mutex;
    return *lock;
}
static thread_local bool noting; /* the map allocates, too */

static void note_allocation(void *memory, size_t size)
{
    if (noting || !memory) return;
    noting = true;
    {
        std::lock_guard<std::mutex> lock(heap_lock());
        allocated_in_kernels()[(uintptr_t)memory] = size;
    }
    noting = false;
}

static bool inside(uintptr_t address, const void *begin, size_t size)
{
    return address - (uintptr_t)begin < size;
}

extern "C" char __executable_start[], __data_start[],
    _end[]; /* the linker's: the program's own variables */

/* What the runner itself keeps on the heap and on stacks for threads to read. */
static bool is_own(const worker &w, uintptr_t address)
{
    const uintptr_t largest_tls = 256 * 1024; /* the stack for signals is among it */
    uintptr_t here = (uintptr_t)__builtin_thread_pointer();
    if (address - (uintptr_t)__executable_start < (uintptr_t)(__data_start - __executable_start))
        return true;
    if (inside(address, &w, sizeof w)) return true;
    if (inside(address, w.launch->request.closure, w.launch->request.closure_size)) return true;
    if (address + largest_tls >= here && address < here + 4096) return true;
    for (auto &f : w.fibers)
        if (inside(address, f->stack, f->usable_size + 4096)) return true;
    if (w.group)
        for (const worker *member : w.group->members)
            if (inside(address, member->arena, shared_arena_size)) return true;
    heap_place place = find_in_kernel_heap(address);
    if (place.inside) return address - place.begin < place.size;
    std::lock_guard<std::mutex> lock(heap_lock());
    auto next = allocated_in_kernels().upper_bound(address);
    return next != allocated_in_kernels().begin() && address - (--next)->first < next->second;
}

/* The mapping of the process that holds the address: its name, empty if it has none. */
static bool find_mapping(uintptr_t address, uintptr_t &begin, uintptr_t &end, std::string &name)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    bool there = false;
    while (maps && !there && fgets(line, sizeof line, maps)) {
        int at_name = 0;
        char access[8];
        if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %n", &begin, &end, access, &at_name) < 3)
            continue;
        there = address >= begin && address < end && access[0] == 'r';
        if (there) name = at_name ? line + at_name : "";
    }
    if (maps) fclose(maps);
    return there;
}

stray_memory what_is_at(const worker &w, uintptr_t address)
{
    static thread_local uintptr_t program_begin, program_end; /* the last mapping of a file */
    uintptr_t begin = (uintptr_t)__data_start, end = (uintptr_t)_end;
    std::string name;
    if (address - begin < end - begin) return host_memory;
    if (address - program_begin < program_end - program_begin || is_own(w, address))
        return own_memory;
    noting = true;
    bool there = find_mapping(address, begin, end, name);
    noting = false;
    if (!there) return no_memory;
    bool of_file = !name.empty() && name[0] != '[' && name[0] != '\n';
    if (of_file) program_begin = begin, program_end = end;
    return of_file || !name.compare(0, 6, "[vdso]") ? own_memory : host_memory;
}

/* ---- errors that nobody looks at ------------------------------------------------------------- */

struct ignored_error {
    std::string what;
    cudaError_t error;
    uint32_t code;
};
static std::vector<ignored_error> &unseen()
{
    static auto *all = new std::vector<ignored_error>;
    return *all;
}
static std::recursive_mutex &unseen_lock()
{
    static std::recursive_mutex *lock = new std::recursive_mutex;
    return *lock;
}
static uint64_t ignored_calls; /* since the last look at errors */
static uint32_t first_ignored;

void host_looks_at_errors()
{
    std::lock_guard<std::recursive_mutex> lock(unseen_lock());
    ignored_calls = 0;
    unseen().clear();
}

static void ignore_call()
{
    if (!ignored_calls++) first_ignored = calling_code();
}

/* <<< >>> returns nothing. */
void host_launches(const char *kernel, cudaError_t error)
{
    std::lock_guard<std::recursive_mutex> lock(unseen_lock());
    ignore_call();
    if (error)
        unseen().push_back({std::string("the launch of kernel ") + kernel, error, calling_code()});
}

/* The rewriter has put this around a call whose result the program throws away. */
cudaError_t thrown_away(const char *call, cudaError_t error)
{
    std::lock_guard<std::recursive_mutex> lock(unseen_lock());
    if (inside_kernel()) return error;
    if (!strstr(call, "Free") && !strstr(call, "Destroy") && !strstr(call, "Reset")) ignore_call();
    if (error) unseen().push_back({call, error, calling_code()});
    return error;
}

static void report_unseen()
{
    for (const ignored_error &e : unseen())
        found("unchecked", "",
              e.what + " at " + at(e.code) + " failed (" + cudaGetErrorString(e.error) +
                  "), and nobody looked at the error",
              "a check of what the call returns; cudaGetLastError() after a launch");
    if (ignored_calls && unseen().empty())
        note(std::to_string(ignored_calls) +
             " calls and launches whose errors nobody would see, the first at " +
             at(first_ignored));
    unseen().clear();
}

void found_leak(void *memory, size_t size, const char *kind)
{
    watched *m = find_watched(all_watched(), (uintptr_t)memory);
    found("leak", "",
          std::to_string(size) + " bytes of " + kind +
              (m ? " allocated at " + at(m->allocated_at) : "") + " are never freed",
          "cudaFree(), or cudaFreeHost() for memory of the host");
}

bool report_at_exit()
{
    if (cucc_options.check) report_unseen();
    print_findings();
    if (run_page) return run_page->write("", true);
    if (cucc_options.report) print_report();
    return true;
}
} // namespace cucc

/* ---- the heap -------------------------------------------------------------------------------- */

extern "C" void *__libc_malloc(size_t size);
extern "C" void __libc_free(void *memory);

extern "C" void *malloc(size_t size)
{
    void *memory = __libc_malloc(size);
    if (cucc::inside_kernel()) cucc::note_allocation(memory, size);
    return memory;
}

extern "C" void free(void *memory)
{
    if (cucc::inside_kernel() && !cucc::noting) {
        cucc::noting = true;
        {
            std::lock_guard<std::mutex> lock(cucc::heap_lock());
            cucc::allocated_in_kernels().erase((uintptr_t)memory);
        }
        cucc::noting = false;
    }
    __libc_free(memory);
}
