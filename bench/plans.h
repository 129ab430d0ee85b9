/* Plans of the kernels of tiledmm.cuh, listed or forced one by one through its hook
   TMM__PLAN_GUESS. Included before tiledmm.cuh. */
#ifndef BENCH_PLANS_H
#define BENCH_PLANS_H
#include <math.h>
#include <stdio.h>

/* As the hook gives it: number of the instance, how k is cut (TMM__PLAN_WHOLE and so on),
   slices. */
typedef struct plan {
    int instance, cut, slices;
} plan;
enum { MOST_PLANS = 256, PLAN_NAME = 32 };
typedef struct plan_list {
    plan plans[MOST_PLANS];
    int count;
} plan_list;

static plan_list *plans_listed; /* where the hook leaves plans, or NULL */
static const plan *plan_forced; /* the only one that it lets pass, or NULL */
static const double NEVER = 1e30;
static inline int is_never(double ns) /* in clocks it was NEVER or HUGE_VAL */
{
    return !(ns < 0.1 * NEVER);
}

static inline void list_plans(plan_list *list)
{
    plans_listed = list;
    if (list) list->count = 0;
}
static inline void force_plan(const plan *forced)
{
    plan_forced = forced;
}
static inline int is_plan(const plan *a, int instance, int cut, int slices)
{
    return a->instance == instance && a->cut == cut && a->slices == slices;
}

/* The hook. While plans are listed all take for ever, so that none hides the next. */
static inline double plan_guess(int instance, int cut, int slices, double time)
{
    plan_list *list = plans_listed;
    if (!list) return plan_forced && !is_plan(plan_forced, instance, cut, slices) ? NEVER : time;
    for (int n = 0; n < list->count; n++)
        if (is_plan(&list->plans[n], instance, cut, slices)) return NEVER;
    if (list->count < MOST_PLANS) {
        const plan found = {instance, cut, slices};
        list->plans[list->count++] = found;
    }
    return NEVER;
}
#ifndef PEER /* beside one, ours shall remember its choices, as in any program */
#define TMM__PLAN_GUESS(instance, cut, slices, time) plan_guess(instance, cut, slices, time)
#endif

/* The same with hardly more slices? */
static inline int is_close(const plan *a, const plan *before)
{
    return before && a->instance == before->instance && a->cut == before->cut &&
           a->slices > before->slices && 4 * a->slices < 5 * before->slices;
}

/* By TMM__PLAN_WHOLE and so on. */
static const char *const plan_cuts[] = {"whole", "slices", "reduce", "clusters", "last", "even"};
enum { PLAN_CUTS = sizeof plan_cuts / sizeof *plan_cuts };

/* "2 reduce 5", "0 whole"; nothing, if there is no plan. */
static inline void name_plan(const plan *p, char name[PLAN_NAME])
{
    name[0] = 0;
    if (!p) return;
    if (p->slices > 1)
        snprintf(name, PLAN_NAME, "%d %s %d", p->instance, plan_cuts[p->cut], p->slices);
    else
        snprintf(name, PLAN_NAME, "%d %s", p->instance, plan_cuts[p->cut]);
}
#endif
