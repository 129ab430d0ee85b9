/* Memory under --check: each word of shared and global memory remembers its last accesses, and which of its
 * bytes were written. An access that no order ties to an earlier one of another thread is a race, unless both
 * only read, both are atomic, or a store changes nothing. */
#include "check_state.h"
#include "../runtime/state.h"
#include <sys/mman.h>
#include <unordered_map>

namespace cucc
{
/* ---- which bytes were written ---------------------------------------------------------------- */

/* What a program leaves unwritten of a variable is zero, and may be meant so. */
static void mark_symbol(watched &m)
{
    munmap(m.written, words_of(m));
    m.written = nullptr;
}

/* The bytes of the word at ADDRESS & ~3 that lie in [address, end). */
static inline unsigned int bytes_of_word(uintptr_t address, uintptr_t end)
{
    unsigned int mask = byte_mask << (address & 3) & byte_mask;
    uintptr_t next = (address & ~(uintptr_t)3) + 4;
    return next <= end ? mask : mask & byte_mask >> (next - end);
}

static void set_written(uint8_t *written, uintptr_t first_word, uintptr_t address, size_t size)
{
    for (uintptr_t a = address, end = address + size; a < end; a = (a & ~(uintptr_t)3) + 4)
        written[a / 4 - first_word] |= (uint8_t)bytes_of_word(a, end);
}

void mark_written(const void *to, size_t size)
{
    std::lock_guard<std::recursive_mutex> lock(watch_lock());
    watched *m = find_watched(all_watched(), (uintptr_t)to);
    if (!m || !m->written) return;
    if (m->symbol) return mark_symbol(*m);
    size = std::min(size, (size_t)(m->end - (uintptr_t)to));
    set_written(m->written, m->begin / 4, (uintptr_t)to, size);
}

/* The words of M that nobody has written, of SIZE bytes that were copied to the host. */
static void find_unwritten(const watched &m, uintptr_t to, uintptr_t from, size_t size,
                           uint32_t code)
{
    const uint8_t *written = m.written + (from / 4 - m.begin / 4);
    size_t words = size / 4;
    for (size_t i = 0, first; i < words; i++) {
        if (written[i]) continue;
        for (first = i; i < words && !written[i];) i++;
        copied_unwritten(to + 4 * first, from + 4 * first, 4 * (i - first), code);
    }
}

static void keep_source(watched &target, uintptr_t to, size_t size, const watched &m,
                        const void *from, uint32_t code)
{
    const size_t most = 256;
    if (target.unwritten.size() == most) target.unwritten.pop_front();
    target.unwritten.push_back(
        {to, to + size,
         "at " + at(code) + " from byte " + std::to_string((uintptr_t)from - m.begin) + " of the " +
             std::to_string(m.end - m.begin) + " bytes allocated at " + at(m.allocated_at)});
}

/* The last copy to the address that brought what nobody has written. */
static std::string source_of(const watched &m, uintptr_t address)
{
    for (auto piece = m.unwritten.rbegin(); piece != m.unwritten.rend(); ++piece)
        if (address >= piece->begin && address < piece->end) return piece->source;
    return "";
}

/* Device memory that is copied stays as unwritten as it was. CODE: what has called for the copy. */
void copy_written(void *to, const void *from, size_t size, uint32_t code)
{
    std::lock_guard<std::recursive_mutex> lock(watch_lock());
    watched *m = find_watched(all_watched(), (uintptr_t)from);
    watched *target = find_watched(all_watched(), (uintptr_t)to);
    bool whole_words = !(((uintptr_t)to | (uintptr_t)from) & 3);
    if (target) device_gets(to, from, size);
    if (m && (!target || target->device < 0)) {
        host_gets(to, size);
        forget_objects(to, size);
    }
    if (!target || target->device < 0) {
        written_on_host((uintptr_t)to, size);
        if (m && m->written && whole_words)
            find_unwritten(*m, (uintptr_t)to, (uintptr_t)from, size, code);
        return;
    }
    if (!m || !m->written || !target->written || target->symbol || !whole_words) {
        mark_written(to, size);
        return;
    }
    size_t words = std::min((size + 3) / 4, words_of(*m) - ((uintptr_t)from / 4 - m->begin / 4));
    const uint8_t *written = m->written + ((uintptr_t)from / 4 - m->begin / 4);
    if (memchr(written, 0, words)) keep_source(*target, (uintptr_t)to, size, *m, from, code);
    memmove(target->written + ((uintptr_t)to / 4 - target->begin / 4), written, words);
}

/* In shared memory the upper half of each byte says which bytes belong to a variable. */
void open_shared(worker &w, char *address, size_t size)
{
    size_t offset = (size_t)(address - w.arena);
    make_block_check(w);
    for (size_t i = 0; i < size; i += 4)
        w.check->written[(offset + i) / 4] =
            (uint8_t)((size - i >= 4 ? byte_mask : byte_mask >> (4 - (size - i))) << 4);
}

void close_shared(worker &w)
{
    if (w.check) memset(w.check->written, 0, shared_arena_size / 4);
}

/* ---- where an address is, for messages ------------------------------------------------------- */

static std::string place_in_shared(const worker &w, uintptr_t address)
{
    for (const shared_block &s : w.shared)
        if (address - (uintptr_t)s.address < s.size)
            return "byte " + std::to_string(address - (uintptr_t)s.address) + " of " +
                   (strcmp(s.name, "(dynamic)") ? "__shared__ " + std::string(s.name)
                                                : "the dynamic shared memory");
    return "shared memory of another block";
}

static std::string place_in(const watched &m, uintptr_t address)
{
    return "byte " + std::to_string(address - m.begin) + " of " + name_of(m);
}

/* ---- races ----------------------------------------------------------------------------------- */

static uint64_t key_of(int kind, uint32_t a, uint32_t b)
{
    return (uint64_t)kind << 60 ^ (uint64_t)a << 30 ^ b;
}
/* The findings of these keys, by their numbers; 0: there is none, or it is being made. */
static std::unordered_map<uint64_t, uint64_t> &known_findings()
{
    static auto *all = new std::unordered_map<uint64_t, uint64_t>;
    return *all;
}
/* What is known has come once more. */
static bool is_new(uint64_t key)
{
    auto known = known_findings().find(key);
    if (known == known_findings().end()) return true;
    found_again(known->second);
    return false;
}
static void keep(uint64_t key, uint64_t finding)
{
    known_findings()[key] = finding;
}

/* Two stores to one word: a race only if the second one changes it, which shows when it was done. */
struct doubtful_store {
    worker *w = nullptr;
    uint32_t code;
    unsigned int thread;
    access_record before;
    uintptr_t address;
    uint32_t value;
    unsigned int mask;
    bool shared;
    const watched *memory;
    bool of_other_launch, updates;
    uint32_t read_at; /* if it updates */
};
static thread_local doubtful_store doubtful;

static uint32_t word_at(uintptr_t address, unsigned int mask)
{
    uint32_t value = *(const uint32_t *)(address & ~(uintptr_t)3), bits = 0;
    for (int i = 0; i < 4; i++)
        if (mask >> i & 1) bits |= 0xffu << 8 * i;
    return value & bits;
}

static void settle_store()
{
    doubtful_store &d = doubtful;
    worker &w = *d.w;
    d.w = nullptr;
    if (word_at(d.address, d.mask) == d.value) return;
    if (d.of_other_launch) return report_unordered(w, *d.memory, d.before.generation);
    uint64_t key = key_of(0, d.before.code, d.code);
    if (!is_new(key)) return;
    access_event e = {w, *w.check, d.code, d.thread, true, false, false};
    unsigned int current = w.current;
    w.current = d.thread;
    keep(key,
         report_race(e, d.before,
                     {d.shared ? place_in_shared(w, d.address) : place_in(*d.memory, d.address),
                      d.address, true, d.updates, true, d.read_at}));
    w.current = current;
}

static inline void settle_doubtful()
{
    if (doubtful.w) settle_store();
}

/* Before the constructors of a program, which may launch kernels. */
__attribute__((constructor(101))) static void set_settle()
{
    settle = settle_doubtful;
}

/* Answers the commonest question without a call. */
static inline bool is_ordered(const access_event &e, const access_record &r)
{
    if (r.block == e.b.block && (r.thread == e.thread || r.stamp < e.b.barrier)) return true;
    return happened_before(e, r);
}

/* Whether R is an access of this launch to one of the bytes, by another thread, and unordered. */
static inline bool conflicts(const access_event &e, const access_record &r, uint16_t generation,
                             unsigned int mask)
{
    return r.generation == generation && (r.mask & mask) && !(e.strong && r.strong) &&
           !is_ordered(e, r);
}

/* Whether any store to these bytes, of whatever thread, is a race with one of the two readers that are known:
 * then it makes no difference who else reads. Two blocks that nothing orders are enough, or two warps that have
 * met no barrier since. */
static inline bool enough_readers(const access_event &e, const word_record &word,
                                  uint16_t generation, unsigned int mask)
{
    const access_record &a = word.reader, &b = word.other;
    if (a.generation != generation || b.generation != generation) return false;
    if ((a.mask & b.mask & mask) != mask || a.strong || b.strong || e.b.learning) return false;
    if (a.block != b.block) return !e.w.group;
    return a.block == e.b.block && a.thread / warp_lanes != b.thread / warp_lanes &&
           std::min(a.stamp, b.stamp) >= e.b.barrier;
}

/* One word of an access; ADDRESS is its first byte. */
static void check_word(const access_event &e, word_record &word, uint16_t generation,
                       unsigned int mask, uintptr_t address, const watched *memory)
{
    bool shared = !memory;
    if (!e.write && word.writer.generation != generation &&
        enough_readers(e, word, generation, mask))
        return;
    access_record now = {e.b.block,          e.b.now,        e.code,  generation,
                         (uint16_t)e.thread, (uint16_t)mask, e.strong};
    if (e.compares) {
        access_record &r = word.reader;
        bool own = r.generation == generation && r.thread == now.thread && r.block == now.block;
        if (own && !r.strong) guess_is_checked(r.code);
        if (own && r.strong && e.write) r.generation = 0; /* the load that an atomic begins with */
    }
    const access_record *other = nullptr;
    bool other_writes = false;
    if (conflicts(e, word.writer, generation, mask)) {
        other = &word.writer;
        other_writes = true;
    } else if (e.write && conflicts(e, word.reader, generation, mask)) {
        other = &word.reader;
    } else if (e.write && conflicts(e, word.other, generation, mask)) {
        other = &word.other;
    }
    if (other) {
        uint64_t key = key_of(0, other->code, e.code);
        /* The thread has read the word as the other one has, or writes it as the other one has written it. */
        const access_record &own = word.reader;
        bool updates = e.write && own.generation == generation && own.thread == now.thread &&
                       own.block == now.block && own.mask & mask &&
                       other->code == (other_writes ? e.code : own.code);
        if (e.write && other_writes && !e.strong && !other->strong) {
            if (!doubtful.w || !known_findings().count(key)) /* or it is of another launch */
                doubtful = {&e.w, e.code, e.thread, *other, address, word_at(address, mask),
                            mask, shared, memory,   false,  updates, own.code};
        } else if (is_new(key)) {
            keep(key,
                 report_race(e, *other,
                             {shared ? place_in_shared(e.w, address) : place_in(*memory, address),
                              address, other_writes, updates, false, own.code}));
        }
    }
    if (e.write) {
        if (e.b.update.finding) note_update(e, address);
        /* An atomic does not hide the thread's own store before it. */
        const access_record &w = word.writer;
        bool hides = e.strong && !w.strong && w.generation == generation && w.block == now.block &&
                     w.thread == now.thread && w.stamp == now.stamp;
        if (!hides) word.writer = now;
        return;
    }
    access_record &reader = word.reader;
    if (reader.generation == generation && !is_ordered(e, reader)) word.other = reader;
    reader = now;
}

/* The same for launches that nothing orders. */
static void check_order(const access_event &e, const watched &m, const word_record &word,
                        unsigned int mask, uintptr_t address)
{
    const access_record *r = unordered_access(e, word, mask);
    if (r && e.write && r == &word.writer && !doubtful.w)
        doubtful = {&e.w, e.code, e.thread, *r,   address, word_at(address, mask),
                    mask, false,  &m,       true, false,   0};
    else if (r)
        report_unordered(e.w, m, r->generation);
}

/* SOURCE: where a copy has brought it from, or empty. */
static void report_unwritten(const access_event &e, const std::string &place,
                             const std::string &source = "")
{
    if (!is_new(key_of(1, e.code, 0))) return;
    std::string which = source.empty()
                            ? "which nobody has written"
                            : "which was copied " + source + ", which nobody has written";
    keep(key_of(1, e.code, 0),
         found("unwritten", here(e.w),
               "it reads " + place + " at " + at(calling_code()) + ", " + which,
               "write it first: a kernel, cudaMemcpy or cudaMemset; each block its shared memory"));
}

static void report_bounds(worker &w, bool write, uint32_t code, const std::string &place,
                          const std::string &right)
{
    if (!is_new(key_of(2, code, 0))) return;
    keep(key_of(2, code, 0), found("bounds", here(w),
                                   std::string("it ") + (write ? "writes " : "reads ") + place +
                                       " at " + at(calling_code()),
                                   right));
}

/* "'const struct float4'" is float4. */
static std::string plain_name(std::string type)
{
    for (const char *word : {"'", "'", "const ", "volatile ", "struct "}) {
        size_t begin = type.find(word);
        if (begin != type.npos) type.erase(begin, strlen(word));
    }
    return type;
}

/* A GPU refuses it, and the launch fails. */
void misaligned_access(worker &w, uintptr_t address, bool write, uint32_t code, const char *type,
                       unsigned int alignment)
{
    std::string name = plain_name(type), place = "memory of the thread's own";
    if (address - (uintptr_t)w.arena < shared_arena_size)
        place = place_in_shared(w, address);
    else if (watched *m = find_watched(w.launch->check->memory, address))
        place = place_in(*m, address);
    found("misaligned", here(w),
          std::string("it ") + (write ? "writes " : "reads ") + name + " at " + at(code) +
              ", whose address is no multiple of " + std::to_string(alignment) + ": " + place,
          "whole steps of " + name + ", or accesses of its elements");
    w.launch->error = cudaErrorMisalignedAddress;
    give_up(w);
}

static void report_in_flight(const access_event &e, const async_copy &copy,
                             const std::string &place)
{
    uint64_t key = key_of(3, copy.code, e.code);
    if (!is_new(key)) return;
    bool own = copy.thread == e.thread;
    const char *wait =
        copy.owner ? "wait at the barrier or the pipeline that the copy was given"
                   : "__pipeline_commit() and __pipeline_wait_prior(), or wait() of the group,";
    keep(key, found("in flight", here(e.w),
                    std::string("it ") + (e.write ? "writes " : "reads ") + place + " at " +
                        at(calling_code()) + ", which the asynchronous copy at " + at(copy.code) +
                        (own ? "" : " of another thread") + " may still be filling",
                    std::string(wait) + (own || copy.owner ? "" : " and then __syncthreads()") +
                        " before " + at(e.code)));
}

/* ---- accesses -------------------------------------------------------------------------------- */

static inline bool all_unwritten(const uint8_t *written, uintptr_t address, uintptr_t end)
{
    for (uintptr_t a = address; a < end; a = (a & ~(uintptr_t)3) + 4)
        if (written[a / 4 - address / 4] & bytes_of_word(a, end)) return false;
    return true;
}

static void shared_access(const access_event &e, worker &owner, uintptr_t address, size_t size,
                          bool read)
{
    block_check &b = *owner.check;
    size_t first = (address - (uintptr_t)owner.arena) / 4;
    uintptr_t end = address + size;
    note_turn(e.b, e.thread, e.code);
    for (uintptr_t a = address; a < end; a = (a & ~(uintptr_t)3) + 4) {
        unsigned int mask = bytes_of_word(a, end);
        if ((b.written[first + a / 4 - address / 4] >> 4 & mask) == mask) continue;
        const shared_block *near = nullptr;
        for (const shared_block &s : owner.shared)
            if ((uintptr_t)s.address <= a && (!near || s.address > near->address)) near = &s;
        std::string name = near ? near->name : "shared memory";
        std::string size_text = near ? std::to_string(near->size) : "0";
        bool dynamic = name == "(dynamic)";
        long offset = near ? (long)(a - (uintptr_t)near->address) : 0;
        report_bounds(e.w, e.write, e.code,
                      "byte " + std::to_string(offset) + " of " +
                          (dynamic ? "the dynamic shared memory" : "__shared__ " + name) +
                          ", which has " + size_text + " bytes,",
                      dynamic ? "more dynamic shared memory in the launch, or a check of the index"
                              : "a check of the index, or a larger array");
        return;
    }
    if (read && all_unwritten(b.written + first, address, end))
        report_unwritten(e, place_in_shared(owner, address));
    if (const async_copy *copy = copy_in_flight(owner, address, end))
        report_in_flight(e, *copy, place_in_shared(owner, address));
    for (uintptr_t a = address; a < end; a = (a & ~(uintptr_t)3) + 4) {
        size_t i = first + a / 4 - address / 4;
        unsigned int mask = bytes_of_word(a, end);
        check_word(e, b.words[i], b.generation, mask, a, nullptr);
        if (e.write) b.written[i] |= (uint8_t)mask;
    }
}

static void global_access(const access_event &e, watched &m, uintptr_t address, size_t size,
                          bool read)
{
    launch_check &l = *e.w.launch->check;
    uintptr_t end = address + size;
    note_turn(e.b, e.thread, e.code);
    if (m.freed) {
        report_bounds(e.w, e.write, e.code, place_in(m, address) + ", which was freed,",
                      "free memory when the kernels that use it have ended");
        return;
    }
    if (end > m.end) {
        report_bounds(e.w, e.write, e.code, place_in(m, end - 1),
                      "a check of the index against the size");
        end = m.end;
    }
    if (read && m.written && all_unwritten(m.written + (address / 4 - m.begin / 4), address, end))
        report_unwritten(e, place_in(m, address), source_of(m, address));
    if (m.device < 0) host_may_conflict(e, m, address, end);
    if (m.looked_through != l.launched) find_unordered_copies(m, l);
    if (!m.unordered.empty()) meet_copies(e, m, address, end);
    if (!m.words) {
        m.records = words_of(m) * sizeof(word_record);
        m.words = (word_record *)map_zeros(m.records);
        if (!m.words) return;
    }
    for (uintptr_t a = address; a < end; a = (a & ~(uintptr_t)3) + 4) {
        size_t i = a / 4 - m.begin / 4;
        unsigned int mask = bytes_of_word(a, end);
        if (!l.unordered.empty()) check_order(e, m, m.words[i], mask, a);
        check_word(e, m.words[i], l.generation, mask, a, &m);
        if (e.write && m.written) m.written[i] |= (uint8_t)mask;
    }
}

static std::string address_text(uintptr_t address)
{
    char text[32];
    snprintf(text, sizeof text, "address 0x%lx", address);
    return text;
}

/* An address that is in no piece: beside one, in the host's memory, or the thread's own. */
static void stray_access(const access_event &e, uintptr_t address)
{
    long offset;
    const std::string right = "a check of the index against the size";
    const auto &memory = e.w.launch->check->memory;
    heap_place place = find_in_kernel_heap(address);
    const watched *near = nullptr;
    if (!place.inside) near = piece_beside(memory, address, offset);
    if (!place.inside && !near)
        if (const watched *before = piece_before(memory, address, offset)) {
            report_bounds(e.w, e.write, e.code,
                          address_text(address) + ", " + std::to_string(offset) + " bytes behind " +
                              name_of(*before) + ",",
                          right);
            return;
        }
    if (near)
        report_bounds(e.w, e.write, e.code,
                      "byte " + std::to_string(offset) + " of " + name_of(*near) +
                          (near->freed ? ", which were freed," : ""),
                      right);
    if (place.size && address - place.begin >= place.size)
        report_bounds(e.w, e.write, e.code,
                      "byte " + std::to_string(address - place.begin) + " of " +
                          std::to_string(place.size) + " bytes that a kernel has allocated",
                      right);
    if (near || place.inside) return;
    switch (what_is_at(e.w, address)) {
    case own_memory: break;
    case host_memory:
        if (const watched *symbol = symbol_before(e.w.launch->check->memory, address))
            report_bounds(e.w, e.write, e.code,
                          place_in(*symbol, address) + ", which has " +
                              std::to_string(symbol->end - symbol->begin) + " bytes,",
                          "a check of the index, or a larger array");
        report_bounds(
            e.w, e.write, e.code, "memory of the host",
            "a copy of it in device memory, in managed memory, or a kernel argument by value");
        break;
    case no_memory:
        report_bounds(e.w, e.write, e.code, address_text(address) + ", where there is no memory,",
                      "a pointer that cudaMalloc has set, and a check that it has");
        print_findings(); /* before the processor ends the program */
    }
}

/* The piece that holds the address: most often the one that the same instruction has reached before. */
static watched *find_again(block_check &b, const launch_check &l, uintptr_t address, uint32_t code)
{
    if (address - l.low >= l.high - l.low) return nullptr;
    watched *&recent = b.recent[code % recent_pieces];
    if (recent && address - recent->begin < recent->end - recent->begin) return recent;
    watched *m = find_watched(l.memory, address);
    if (m) recent = m;
    return m;
}

/* Whether it is one more plain read of words that enough threads have read. Most reads of a table that all
 * threads walk through are, so that this comes before all else. */
static inline bool is_read_again(const worker &w, uintptr_t address, size_t size, int kind,
                                 uint32_t code)
{
    const block_check *b = w.check;
    if (kind != access_reads || w.group || !b || b->learning || b->seen || cucc_options.report)
        return false;
    const watched *m = b->recent[code % recent_pieces];
    if (!m || !m->words || m->freed || m->device < 0) return false;
    if (address < m->begin || address + size > m->end) return false;
    if (!w.launch->check) return false;
    const launch_check &l = *w.launch->check;
    if (m->looked_through != l.launched || !m->unordered.empty() || !l.unordered.empty())
        return false;
    const word_record *word = m->words + (address / 4 - m->begin / 4);
    const word_record *end = m->words + ((address + size + 3) / 4 - m->begin / 4);
    for (; word < end; word++) {
        const access_record &r = word->reader, &o = word->other;
        if (r.generation != l.generation || o.generation != l.generation || r.block == o.block ||
            word->writer.generation == l.generation || (r.mask & o.mask) != byte_mask || r.strong ||
            o.strong)
            return false;
    }
    return true;
}

void kernel_access(worker &w, uintptr_t address, size_t size, int kind, uint32_t code)
{
    if (is_read_again(w, address, size, kind, code)) return;
    static std::recursive_mutex &group_lock = *new std::recursive_mutex;
    std::unique_lock<std::recursive_mutex> lock;
    if (w.group) lock = std::unique_lock<std::recursive_mutex>(group_lock);
    if (!w.check || !w.launch->check) return;
    settle_doubtful();
    block_check &b = *w.check;
    access_event e = {w,
                      b,
                      code,
                      w.current,
                      (kind & access_writes) != 0,
                      (kind & access_strong) != 0,
                      (kind & access_compares) != 0};
    b.uses_atomics |= e.strong;
    if (b.seen_by == e.thread && b.seen) learn(e, b.seen);
    b.seen = 0;
    bool read = (kind & access_reads) != 0;
    if (e.strong && read) {
        learn(e, address);
        b.seen = address;
        b.seen_by = e.thread;
    }
    if (e.strong && e.write) publish(e, address);
    worker *owner = address - (uintptr_t)w.arena < shared_arena_size ? &w : nullptr;
    if (!owner && w.group && !w.group->whole_grid)
        for (worker *member : w.group->members)
            if (address - (uintptr_t)member->arena < shared_arena_size) owner = member;
    if (owner) {
        if (cucc_options.check) shared_access(e, *owner, address, size, read);
        if (cucc_options.report) report_access(w, address, size, shared_space, kind, code);
        return;
    }
    watched *m = find_again(b, *w.launch->check, address, code);
    if (m && cucc_options.report)
        report_access(w, address, size, m->constant ? constant_space : global_space, kind, code);
    if (!cucc_options.check) return;
    if (m)
        global_access(e, *m, address, size, read);
    else
        stray_access(e, address);
}
} // namespace cucc
