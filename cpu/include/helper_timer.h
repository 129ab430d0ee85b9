/* helper_timer.h of the CPU runner: the stop watch of NVIDIA's samples, in milliseconds. */
#ifndef COMMON_HELPER_TIMER_H_
#define COMMON_HELPER_TIMER_H_

#include <stddef.h>
#include <time.h>

class StopWatchInterface
{
    double total = 0, began = 0;
    bool runs = false;
    int sessions = 0;

    static double now()
    {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
    }

  public:
    void start()
    {
        began = now();
        runs = true;
    }
    void stop()
    {
        total += now() - began;
        runs = false;
        sessions++;
    }
    void reset()
    {
        total = 0;
        sessions = 0;
        began = now();
    }
    float getTime() const
    {
        return (float)(runs ? total + now() - began : total);
    }
    float getAverageTime() const
    {
        return sessions ? (float)(total / sessions) : 0.0f;
    }
};

inline bool sdkCreateTimer(StopWatchInterface **timer)
{
    *timer = new StopWatchInterface;
    return true;
}
inline bool sdkDeleteTimer(StopWatchInterface **timer)
{
    delete *timer;
    *timer = NULL;
    return true;
}
inline bool sdkStartTimer(StopWatchInterface **timer)
{
    (*timer)->start();
    return true;
}
inline bool sdkStopTimer(StopWatchInterface **timer)
{
    (*timer)->stop();
    return true;
}
inline bool sdkResetTimer(StopWatchInterface **timer)
{
    (*timer)->reset();
    return true;
}
inline float sdkGetTimerValue(StopWatchInterface **timer)
{
    return (*timer)->getTime();
}
inline float sdkGetAverageTimerValue(StopWatchInterface **timer)
{
    return (*timer)->getAverageTime();
}

#endif
