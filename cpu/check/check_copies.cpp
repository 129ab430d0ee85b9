/* Asynchronous copies into shared memory under --check. The data is there at once, but what a copy fills must
 * not be touched before somebody has waited for it. A copy belongs to its thread, or to the cuda::barrier or
 * the cuda::pipeline that it was given, and to a group: those of a number are complete together. */
#include "check_state.h"

namespace cucc
{
static size_t word_in_arena(const worker &w, uintptr_t address)
{
    return (address - (uintptr_t)w.arena) / 4;
}

/* How many copies that nobody has waited for fill each word of the arena. */
static void count_words(worker &w, const async_copy &c, int change)
{
    size_t end = word_in_arena(w, c.end + 3);
    for (size_t i = word_in_arena(w, c.begin); i < end; i++)
        w.check->in_flight[i] = (uint8_t)(w.check->in_flight[i] + change);
}

static worker *copying()
{
    return self && self->check && self->launch && self->launch->check ? self : nullptr;
}

void copy_begins(const void *to, size_t size, const void *owner, uint32_t group)
{
    worker *w = copying();
    uintptr_t begin = (uintptr_t)to;
    if (!w || !size || begin - (uintptr_t)w->arena >= shared_arena_size) return;
    block_check &b = *w->check;
    if (!owner) group = b.groups[w->current];
    uint32_t code = b.words[word_in_arena(*w, begin)].writer.code; /* it was written just now */
    b.copies.push_back({begin, begin + size, owner, group, (uint16_t)w->current, code});
    count_words(*w, b.copies.back(), 1);
}

void copies_commit()
{
    if (worker *w = copying()) w->check->groups[w->current]++;
}

/* The thread that waits for its own copies writes, so to speak, what they fill: others may read it after the
 * next barrier. */
static void written_now(worker &w, const async_copy &c)
{
    block_check &b = *w.check;
    size_t end = word_in_arena(w, c.end + 3);
    for (size_t i = word_in_arena(w, c.begin); i < end; i++) {
        access_record &r = b.words[i].writer;
        if (r.generation == b.generation && r.thread == c.thread) r.stamp = b.now;
    }
}

static void complete(worker &w, const void *owner, uint32_t groups)
{
    std::vector<async_copy> &copies = w.check->copies;
    size_t kept = 0;
    settle();
    for (const async_copy &c : copies) {
        bool mine = owner || c.thread == w.current;
        if (c.owner == owner && mine && (int32_t)(c.group - groups) < 0) {
            count_words(w, c, -1);
            if (!owner) written_now(w, c);
        } else {
            copies[kept++] = c;
        }
    }
    copies.resize(kept);
}

/* The thread's own, but for the groups that it has committed last. */
void copies_wait_prior(size_t last)
{
    worker *w = copying();
    if (!w || w->check->copies.empty()) return;
    uint32_t committed = w->check->groups[w->current];
    if (last < committed) complete(*w, nullptr, committed - (uint32_t)last);
}

/* Those of the groups below GROUPS that were given to OWNER. */
void copies_arrived(const void *owner, uint32_t groups)
{
    worker *w = copying();
    if (w && !w->check->copies.empty()) complete(*w, owner, groups);
}

void forget_copies(worker &w)
{
    block_check &b = *w.check;
    for (const async_copy &c : b.copies) count_words(w, c, -1);
    b.copies.clear();
    memset(b.groups, 0, sizeof b.groups);
}

/* The copy that may still fill one of these bytes of the block's shared memory, or null. */
const async_copy *copy_in_flight(const worker &owner, uintptr_t address, uintptr_t end)
{
    const block_check &b = *owner.check;
    if (b.copies.empty()) return nullptr;
    bool any = false;
    for (size_t i = word_in_arena(owner, address); i <= word_in_arena(owner, end - 1); i++)
        any |= b.in_flight[i] != 0;
    if (!any) return nullptr;
    for (const async_copy &c : b.copies)
        if (c.begin < end && address < c.end) return &c;
    return nullptr;
}
} // namespace cucc
