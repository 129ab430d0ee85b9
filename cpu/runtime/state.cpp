/* The state that the files of the runtime API share: devices, and what calls have left in them. */
#include "watch.h"
#include "state.h"

namespace cucc
{
thread_local int current_device = 0;
thread_local cudaError_t last_error = cudaSuccess;

/* Never destroyed: static destructors of the user may still call the runtime. */
runtime_state &state()
{
    static runtime_state *s = [] {
        runtime_state *r = new runtime_state;
        r->devices = environment().devices;
        r->memory = environment().memory;
        atexit(report_leaks);
#ifdef CUCC_CHECK /* what was found is told, however the program ends */
        watch_signals();
#endif
        return r;
    }();
    return *s;
}

cudaError_t failed(cudaError_t error)
{
    last_error = error;
    return error;
}

/* What each call that needs a device begins with. */
cudaError_t enter()
{
    runtime_state &s = state();
    if (!s.devices) return failed(cudaErrorNoDevice);
    if (s.device[current_device].sticky) return failed(s.device[current_device].sticky);
    return cudaSuccess;
}

cudaError_t check_device(int device)
{
    if (!state().devices) return failed(cudaErrorNoDevice);
    if (device < 0 || device >= state().devices) return failed(cudaErrorInvalidDevice);
    return cudaSuccess;
}

cudaError_t fail_for_good(cudaError_t error)
{
    state_lock lock(state().lock);
    state().device[current_device].sticky = error;
    return failed(error);
}

/* Puts the device's image into the variables. The caller holds the launch lock. */
void activate(int device)
{
    runtime_state &s = state();
    if (device == s.active_device) return;
    for (symbol_images &symbol : s.symbols) {
        if (symbol.managed) continue;
        symbol.image[s.active_device].assign(symbol.address, symbol.address + symbol.size);
        std::vector<char> &image = symbol.image[device];
        memcpy(symbol.address, image.empty() ? symbol.initial.data() : image.data(), symbol.size);
    }
    s.active_device = device;
}
} // namespace cucc
