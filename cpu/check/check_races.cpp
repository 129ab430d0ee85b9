/* What a race is told as, and what would order it: which of the two accesses a thread comes to first shows in
 * what each thread has done since its last synchronisation. */
#include "check_state.h"
#include <sys/mman.h>

namespace cucc
{
enum { turns_of_thread = 32 };

/* An instruction that a thread has come to since its last synchronisation. */
struct instruction_turn {
    uint32_t code, since; /* since: the time of that synchronisation */
    uint32_t first;       /* its place among all accesses of the block */
    uint32_t count;
};

/* Threads of all blocks that a worker runs. */
struct turn_log {
    uint32_t accesses = 0;
    instruction_turn turns[max_threads][turns_of_thread];
};

static uint32_t last_synchronisation(const block_check &b, unsigned int thread)
{
    return std::max(b.barrier, b.synchronised[thread]);
}

/* That of the instruction, or the place where it would be noted; null: there are too many. */
static instruction_turn *turn_of(const block_check &b, unsigned int thread, uint32_t code,
                                 uint32_t since)
{
    instruction_turn *turns = b.turns->turns[thread];
    for (instruction_turn *turn = turns; turn < turns + turns_of_thread; turn++)
        if (turn->since != since || turn->code == code) return turn;
    return nullptr;
}

void note_turn(block_check &b, unsigned int thread, uint32_t code)
{
    if (!b.turns) {
        void *memory = mmap(nullptr, sizeof(turn_log), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) return;
        b.turns = (turn_log *)memory;
    }
    uint32_t since = last_synchronisation(b, thread), now = ++b.turns->accesses;
    instruction_turn *turn = turn_of(b, thread, code, since);
    if (!turn) return;
    if (turn->since != since) *turn = {code, since, now, 0};
    turn->count++;
}

/* When a thread first came to an instruction since its last synchronisation, and how often; 0: it did not. */
static const instruction_turn *find_turn(const block_check &b, unsigned int thread, uint32_t code)
{
    if (!b.turns) return nullptr;
    uint32_t since = last_synchronisation(b, thread);
    const instruction_turn *turn = turn_of(b, thread, code, since);
    return turn && turn->since == since ? turn : nullptr;
}

/* Whether threads come to the access at hand before the earlier one: by the thread of the earlier one, else by
 * that of the access at hand. TURNS: they come to both more than once without a synchronisation. */
static bool comes_first(const access_event &e, const access_record &r, bool &turns)
{
    for (unsigned int thread : {(unsigned int)r.thread, e.thread}) {
        const instruction_turn *at_hand = find_turn(e.b, thread, e.code);
        const instruction_turn *earlier = find_turn(e.b, thread, r.code);
        if (!at_hand || !earlier) continue;
        turns |= at_hand->count > 1 && earlier->count > 1;
        return at_hand->first < earlier->first;
    }
    return false;
}

static race_advice in_place_of(const access_event &e, uint32_t load, uint32_t store)
{
    const char *lock =
        e.b.uses_atomics ? "; under a lock, __threadfence() before it is opened" : "";
    race_advice advice;
    advice.first = load;
    advice.second = store;
    advice.right = "atomicAdd(), or another atomic function, in place of the load at " + at(load) +
                   " and the store at " + at(store) + lock;
    advice.on_one_line = "atomicAdd(), or another atomic function, at " + at(store) + lock;
    return advice;
}

/* SHOWN: the access at hand with its callers. */
static race_advice what_orders(const access_event &e, const access_record &r, uint32_t shown)
{
    race_advice advice;
    std::string lines = " between " + at(r.code) + " and " + at(shown);
    if (e.strong != (bool)r.strong) {
        advice.right = "an atomic at both places, or an order" + lines;
    } else if (r.block != e.b.block) {
        advice.right = "another launch, or, if an atomic tells that the value is there, "
                       "__threadfence() before that atomic" +
                       lines;
    } else {
        bool of_warp = r.thread / warp_lanes == e.thread / warp_lanes;
        std::string barrier = !of_warp                    ? "__syncthreads()"
                              : e.w.threads <= warp_lanes ? "__syncwarp()"
                                                          : "__syncthreads(), or __syncwarp() "
                                                            "among lanes of a warp,";
        bool first = comes_first(e, r, advice.turns);
        advice.first = first ? shown : r.code;
        advice.second = first ? r.code : shown;
        advice.right =
            barrier + " between " + at(advice.first) + " and " + at(advice.second) + next_turn;
        advice.on_one_line = barrier + " between the loads and the stores of " + at(shown);
    }
    return advice;
}

/* The access at hand is known with its callers; an earlier one as it was kept. UPDATES: the thread has read
 * the word before it writes it. LATER: it is no longer at hand. */
uint64_t report_race(const access_event &e, const access_record &r, const race_place &place)
{
    uint32_t guess = 0, shown = place.later ? e.code : calling_code();
    bool other_writes = place.other_writes,
         same_store = e.write && other_writes && e.code == r.code;
    if (!e.write && r.strong) guess = e.code;
    if (e.strong && !other_writes) guess = r.code;
    std::string other = describe_thread(*e.w.launch, r.block, r.thread), place_of_other = other;
    if (r.block == e.b.block) other = other.substr(other.find("thread"));
    race_advice advice = what_orders(e, r, shown);
    if (place.updates) advice = in_place_of(e, place.read_at, shown);
    if (same_store && !place.updates) {
        advice = race_advice();
        advice.right = "a condition that lets one thread write it, or a place for each thread";
    }
    bool e_is_next = advice.second && advice.second == shown;
    bool r_is_next = advice.second && advice.second == r.code && !e_is_next;
    uint64_t number =
        found("race", here(e.w),
              "race on " + place.name + ": it " + (e.write ? "writes" : "reads") + " at " +
                  at(shown) + (e_is_next ? next_turn : "") + " what " + other +
                  (other_writes ? " writes" : " reads") + " at " + at(r.code) +
                  (r_is_next ? next_turn : "") +
                  (e.write && other_writes ? ", another value" : "") + ", and nothing orders them",
              advice, guess);
    label(number,
          {describe_thread(*e.w.launch, e.b.block, e.thread) + (e.write ? " writes" : " reads"),
           place_of_other + (other_writes ? " writes" : " reads")});
    if (!e.write && other_writes && !e.strong && !r.strong)
        e.b.update = {number, place.address, r.code, shown, e.thread};
    return number;
}

/* A store after a racing load of the same thread, by the instruction that the other thread has stored with: all
 * threads read the word and write it again. */
void note_update(const access_event &e, uintptr_t address)
{
    auto &u = e.b.update;
    if (u.address != address || u.thread != e.thread || u.stored_by != e.code) return;
    amend(u.finding, in_place_of(e, u.loaded_at, e.code));
    u.finding = 0;
}
} // namespace cucc
