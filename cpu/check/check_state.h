/* What the files check_*.cpp share. Each calls those before it alone:
 *
 * check_lines.cpp    messages, with addresses of code turned into lines
 * check_watched.cpp  the pieces of memory: which one an address is in or beside
 * check_report.cpp   sectors, banks, divergence, occupancy: --report
 * check_grids.cpp    the blocks of launches, as they ran
 * check_races.cpp    what a race is told as, and what would order it
 * check_functions.cpp  functions and virtual functions of the host in kernels, too many constants
 * check_streams.cpp  what streams know of one another
 * check_host.cpp     errors that nobody looked at, and what the host reads too early
 * check_copies.cpp   asynchronous copies that nobody has waited for
 * check_clocks.cpp   what happens before what: barriers, warps, fences, atomics
 * check_memory.cpp   the last accesses to each word, who wrote a byte first, bounds
 * check_hooks.cpp    what instrumented code calls at each access
 * leaks.cpp          what is left at exit
 * counts.cpp         loads and stores: --count
 * check_page.h       a page of all that, with drawings: --html; it lists its files
 *
 * The folder check/ has the functions of runtime/watch.h, and those that g++ calls at each access to memory:
 * --check, --report, --count, and what is left at exit. Uses: include/, runtime/. Used by: none. */
#ifndef CUCC_CHECK_STATE_H
#define CUCC_CHECK_STATE_H

#include "../runtime/watch.h"
#include "../runtime/worker.h"
#include <array>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>

namespace cucc
{
/* ---- what happened before what: check_clocks.cpp --------------------------------------------- */

/* Each block has one clock, which every synchronisation in it advances. An access is stamped with its time.
 * A thread knows of the accesses of another one that were stamped before some time: of all threads of its
 * block, before the last barrier; of the lanes of its warp, by rows; of whom else, what it has learned from
 * atomics. */
using lane_row = std::array<uint32_t, warp_lanes>;
struct known_block {
    uint32_t before = 0; /* all threads */
    std::map<unsigned int, lane_row> warps;
};
using knowledge = std::map<uint32_t, known_block>; /* by the number of the block */
using shared_knowledge = std::shared_ptr<const knowledge>;

/* The last access of a kind to a word of four bytes. */
struct access_record {
    uint32_t block, stamp, code;                /* code: the address of the instruction */
    uint16_t generation;                        /* of the launch; for shared memory, of the block */
    uint16_t thread : 10, mask : 4, strong : 1; /* mask: bytes; strong: atomic or volatile */
};
struct word_record {
    access_record writer, reader, other; /* other: a reader that is not the last one */
};

/* A copy into shared memory that nobody has waited for. */
struct async_copy {
    uintptr_t begin, end;
    const void *owner; /* a barrier or a pipeline, or null: the thread */
    uint32_t group;    /* of the thread's commits, the barrier's phases, the pipeline's stages */
    uint16_t thread;
    uint32_t code;
};

struct watched;
struct turn_log;
enum { recent_pieces = 61 };

struct block_check {
    uint32_t block;          /* its number in the grid */
    uint32_t now = 1;        /* goes on from block to block */
    uint32_t start, barrier; /* of the block; of its last barrier */
    uint32_t published;      /* what came before is behind somebody's fence and a barrier */
    bool fenced, learning;   /* since the last barrier; since the block began */
    bool uses_atomics;       /* since the block began */
    uint32_t fence[max_threads];
    lane_row known[max_warps][warp_lanes], behind_fence[max_warps][warp_lanes];
    shared_knowledge block_learned, block_published;
    shared_knowledge learned[max_threads], to_publish[max_threads];
    std::unordered_map<uintptr_t, shared_knowledge> objects; /* in shared memory */

    uintptr_t seen; /* what thread SEEN_BY has just read by an atomic or as volatile */
    unsigned int seen_by;

    uint16_t generation = 0;
    word_record *words; /* of shared memory */
    uint8_t *written;   /* a bit for each byte of a word */

    watched *recent[recent_pieces]; /* of memory, by the instruction that reached it last */

    turn_log *turns = nullptr;          /* check_races.cpp */
    uint32_t synchronised[max_threads]; /* when each thread met others of its warp last */
    struct {                            /* a load that raced last */
        uint64_t finding;               /* 0: there was none, or it is done with */
        uintptr_t address;
        uint32_t stored_by, loaded_at; /* instructions: the other thread's, the own */
        unsigned int thread;
    } update = {};

    std::vector<async_copy> copies;
    uint8_t *in_flight;           /* how many of these fill each word */
    uint32_t groups[max_threads]; /* that each thread has committed */
};

/* A piece of memory that kernels reach. */
struct watched {
    uintptr_t begin, end;
    int device; /* or managed or pinned_host */
    bool symbol, constant, freed;
    bool guarded; /* check_guard bytes on each side are nobody's */
    uint32_t allocated_at;
    word_record *words; /* null before the first access */
    uint8_t *written;   /* null: all of it counts as written */
    size_t records;     /* bytes of words */

    /* What the host must wait for, and what it did last, of memory that both reach. */
    struct work { /* a kernel or a copy that may be at work on it */
        std::string what;
        bool writes, anywhere; /* in no stream that is known */
        cudaStream_t stream;
        uintptr_t begin, end;
        uint64_t launched; /* 0: a copy */
    };
    std::deque<work> busy;
    uintptr_t touched_address;
    uint64_t touched; /* when the host did */
    uint32_t touched_at;
    bool touched_to_write;

    /* Where copies have brought words from that nobody has written. */
    struct unwritten_piece {
        uintptr_t begin, end;
        std::string source; /* "at LINE from byte N of ..." */
    };
    std::deque<unwritten_piece> unwritten;

    /* Copies to and from it, in whatever stream. */
    struct copy {
        uint64_t begun;
        bool write;
        uintptr_t begin, end;
        std::string what;
    };
    std::deque<copy> copies;
    uint64_t looked_through;     /* the launch for which the next ones were found */
    std::vector<copy> unordered; /* with it */
};

struct kernel_grid; /* check_page.h */
struct launch_check {
    uint16_t generation;
    std::vector<uint32_t> met,
        arriving;                  /* of each block of a grid: its last meeting with the others */
    uintptr_t low, high;           /* of all below */
    std::vector<watched *> memory; /* sorted */
    uint64_t launched;             /* when */
    uint32_t launched_at;
    std::vector<uint16_t> unordered; /* generations of launches that nothing orders with this one */
    kernel_grid *grid = nullptr;     /* if a page is wanted */
};

enum { byte_mask = 15 }; /* of a word */

/* Whether the last write changed anything: asked before time goes on. check_memory.cpp sets it before main. */
inline void (*settle)();

struct access_event {
    worker &w;
    block_check &b;
    uint32_t code;
    unsigned int thread;
    bool write, strong, compares;
};

void make_block_check(worker &w);
bool happened_before(const access_event &e, const access_record &r);
void publish(const access_event &e, uintptr_t address);
void learn(const access_event &e, uintptr_t address);
void fence_thread(worker &w);

/* ---- asynchronous copies: check_copies.cpp ------------------------------------------------------ */

const async_copy *copy_in_flight(const worker &owner, uintptr_t address, uintptr_t end);
void forget_copies(worker &w);

/* ---- what is watched: check_watched.cpp -------------------------------------------------------- */

std::recursive_mutex &watch_lock();
std::vector<watched *> &all_watched(); /* sorted */
void *map_zeros(size_t bytes);
size_t words_of(const watched &m);
watched *find_watched(const std::vector<watched *> &memory, uintptr_t address);
const watched *piece_beside(const std::vector<watched *> &memory, uintptr_t address, long &offset);
const watched *piece_before(const std::vector<watched *> &memory, uintptr_t address, long &offset);
const watched *symbol_before(const std::vector<watched *> &memory, uintptr_t address);
std::string name_of(const watched &m);

/* ---- memory: check_memory.cpp ---------------------------------------------------------------- */

enum access_bits { access_reads = 1, access_writes = 2, access_strong = 4, access_compares = 8 };
void kernel_access(worker &w, uintptr_t address, size_t size, int kind, uint32_t code);
void misaligned_access(worker &w, uintptr_t address, bool write, uint32_t code, const char *type,
                       unsigned int alignment);

/* ---- what a GPU cannot follow: check_functions.cpp --------------------------------------------- */

void host_gets(const void *memory, size_t size);
void device_gets(const void *to, const void *from, size_t size);
void forget_objects(const void *to, size_t size);
void writes_table(uintptr_t address, uintptr_t table);
void kernel_reads_table(const worker &w, uintptr_t address, uint32_t code);

/* ---- races: check_races.cpp ------------------------------------------------------------------ */

struct race_place {
    std::string name;
    uintptr_t address;
    bool other_writes;
    bool updates, later; /* a store of what the thread has read; it was done before */
    uint32_t read_at;
};
void note_turn(block_check &b, unsigned int thread, uint32_t code);
uint64_t report_race(const access_event &e, const access_record &r, const race_place &place);
void note_update(const access_event &e, uintptr_t address);

/* ---- the host: check_host.cpp ---------------------------------------------------------------- */

void host_access(uintptr_t address, size_t size, int kind, uint32_t code);
void written_on_host(uintptr_t to, size_t size);
void copied_unwritten(uintptr_t to, uintptr_t from, size_t size, uint32_t code);
void host_may_conflict(const access_event &e, watched &m, uintptr_t address, uintptr_t end);
enum stray_memory { own_memory, host_memory, no_memory }; /* own: the thread's, or the runner's */
stray_memory what_is_at(const worker &w, uintptr_t address);

/* ---- what streams know of one another: check_streams.cpp ----------------------------------------- */

void wait_for_event(const recording &event); /* the host does, and so on */
void wait_for_stream(cudaStream_t stream);
void wait_for_all_streams();
void launch_in_order(launch_state &launch);
const access_record *unordered_access(const access_event &e, const word_record &word,
                                      unsigned int mask);
void report_unordered(const worker &w, const watched &m, uint16_t generation);
void find_unordered_copies(watched &m, const launch_check &l);
void meet_copies(const access_event &e, watched &m, uintptr_t begin, uintptr_t end);

/* ---- messages: check_lines.cpp --------------------------------------------------------------- */

/* A place in the code, which becomes FILE:LINE when the message is printed. */
std::string at(uint32_t code);
uint32_t code_of_callers(uint32_t first, uint32_t second, uint32_t third);
std::string describe_thread(const launch_state &launch, uint32_t block, unsigned int thread);
std::string resolved(const std::string &text);
std::vector<std::string> lines_of(const std::vector<uint32_t> &codes);
std::string allocated(uint32_t code); /* becomes a sentence at the end of a message */
/* What would be right of two accesses, of which threads come to FIRST first. Where the lines are known, those
 * of the second are of the next turn, if they do not come after those of the first. */
struct race_advice {
    std::string right, on_one_line; /* the latter if both are on one line, and there are no turns */
    uint32_t first = 0, second = 0;
    bool turns = false;
};
static const char *const next_turn = "@next"; /* becomes these words, or none */
/* Findings of one kind at the same lines are told once. GUESS: a plain load, if all is well where a
 * compare-and-swap of the same thread checks what it has read. */
uint64_t found(const char *kind, const std::string &where, const std::string &what,
               const std::string &right, uint32_t guess = 0);
uint64_t found(const char *kind, const std::string &where, const std::string &what,
               const race_advice &advice, uint32_t guess);
void amend(uint64_t finding, const race_advice &advice); /* if it is not told yet */
void found_again(uint64_t finding);                      /* at the same lines */
/* What the page says of the first lines that the finding names; else it takes the words before them. */
void label(uint64_t finding, const std::vector<std::string> &labels);
void guess_is_checked(uint32_t code);
void note(const std::string &what); /* no fault */
std::string here(const worker &w);

/* ---- for the page: check_page.h, check_grids.cpp ----------------------------------------------------------- */

/* The page of the run, told of findings as they come; null: none is wanted. check_page.cpp sets it before main. */
struct page_of_run {
    void (*fault)(uint64_t finding); /* the block that runs has come to it */
    /* False, after a sentence, if it cannot be written. HOW the program has ended is a sentence, or empty: well.
     * ENDED: the figures of --report are whole, and a sentence says where the page is. */
    bool (*write)(const std::string &how, bool ended);
};
inline const page_of_run *run_page;
void grid_begins(launch_state &launch);
void grid_block(const worker &w);
void grid_ends(launch_state &launch);

/* ---- --report: check_report.cpp -------------------------------------------------------------- */

enum report_space {
    global_space,
    shared_space,
    constant_space,
    branch_space,
    global_atomic,
    shared_atomic,
    spaces
};
void report_access(worker &w, uintptr_t address, size_t size, report_space space, int kind,
                   uint32_t code);
void report_block(worker &w);
void report_launch(launch_state &launch);
std::string name_of(const launch_state &launch); /* the kernel, and the line of its launch */
void print_report();
} // namespace cucc

#endif
