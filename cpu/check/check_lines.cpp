/* Messages of --check: collected, with addresses of code turned into lines by addr2line, and printed when a
 * launch and when the program ends. */
#include "check_state.h"
#include <execinfo.h>
#include <set>
#include <unistd.h>

namespace cucc
{
enum { most_frames = 12, most_findings = 50, trace_bit = 1u << 31 };

struct finding {
    std::string kind, where, what;
    race_advice advice;
    uint64_t count;
    uint32_t guess; /* the plain load, or 0 */
    uint64_t number;
};
static std::vector<finding> &pending()
{
    static auto *all = new std::vector<finding>;
    return *all;
}
static std::recursive_mutex &message_lock()
{
    static auto *lock = new std::recursive_mutex;
    return *lock;
}
static std::vector<std::vector<uint32_t>> &traces()
{
    static auto *all = new std::vector<std::vector<uint32_t>>;
    return *all;
}
static std::map<uint32_t, std::string> &lines() /* empty: in no file of the program */
{
    static auto *all = new std::map<uint32_t, std::string>;
    return *all;
}
static uint64_t findings_total;

/* ---- lines ----------------------------------------------------------------------------------- */

std::string at(uint32_t code)
{
    char text[16];
    snprintf(text, sizeof text, "@{%08x}", code);
    return text;
}

static uint32_t number_of_trace(const std::vector<uint32_t> &trace)
{
    static auto *known = new std::map<std::vector<uint32_t>, uint32_t>;
    auto found = known->find(trace);
    if (found != known->end()) return found->second;
    uint32_t number = (uint32_t)traces().size() | trace_bit;
    traces().push_back(trace);
    return (*known)[trace] = number;
}

/* A trace of returns, of which the first one in the program's own files will be named. */
uint32_t calling_code()
{
    void *frames[most_frames];
    int count = backtrace(frames, most_frames);
    std::vector<uint32_t> trace;
    for (int i = 1; i < count; i++) {
        uintptr_t code = (uintptr_t)frames[i];
        if (code < trace_bit) trace.push_back((uint32_t)code); /* else in a library */
    }
    std::lock_guard<std::recursive_mutex> lock(message_lock());
    uint32_t launched = inside_kernel() ? current_launch()->request.launched_at : 0;
    if (launched & trace_bit) { /* a kernel of the runner's: where it was launched */
        const std::vector<uint32_t> &more = traces()[launched & ~trace_bit];
        trace.insert(trace.end(), more.begin(), more.end());
    }
    return number_of_trace(trace);
}

static std::string tidy(std::string line)
{
    line = line.substr(0, line.find(" (discriminator"));
    while (line.compare(0, 2, "./") == 0) line = line.substr(2);
    return line;
}

/* The same for the three innermost returns, quickly. */
uint32_t code_of_callers(uint32_t first, uint32_t second, uint32_t third)
{
    struct entry {
        uint32_t first, second, third, number;
    };
    enum { entries = 1024 };
    static thread_local entry cache[entries];
    entry &e = cache[(first ^ second * 31 ^ third * 961) % entries];
    if (e.number && e.first == first && e.second == second && e.third == third) return e.number;
    std::lock_guard<std::recursive_mutex> lock(message_lock());
    e = {first, second, third, number_of_trace({first, second, third})};
    return e.number;
}

static bool is_own_file(const std::string &line)
{
    size_t length = strlen(cucc_options.include);
    bool known = line.find(":?") == line.npos && line.find(":0") == line.npos;
    return known && line.compare(0, length, cucc_options.include) && line.compare(0, 5, "/usr/");
}

/* Asks addr2line for codes that are not known yet: the innermost line that is the program's own. */
static void resolve(const std::set<uint32_t> &codes)
{
    std::string command =
        "exec 2>/dev/null; addr2line -a -i -e /proc/" + std::to_string(getpid()) + "/exe";
    bool any = false;
    for (uint32_t code : codes) {
        if (lines().count(code)) continue;
        char text[16];
        snprintf(text, sizeof text, " %x", code - 1); /* within the call */
        command += text;
        lines()[code] = "";
        any = true;
    }
    FILE *answers = any ? popen(command.c_str(), "r") : nullptr;
    char line[4096];
    uint32_t code = 0;
    while (answers && fgets(line, sizeof line, answers)) {
        line[strcspn(line, "\n")] = 0;
        if (!strncmp(line, "0x", 2))
            code = (uint32_t)strtoul(line, nullptr, 16) + 1;
        else if (lines()[code].empty() && is_own_file(tidy(line)))
            lines()[code] = tidy(line);
    }
    if (answers) pclose(answers);
}

/* Calls DO with each code of a text. */
template <class F> static void each_code(const std::string &text, F what)
{
    for (size_t i = 0; (i = text.find("@{", i)) != text.npos; i++)
        what(i, (uint32_t)strtoul(text.c_str() + i + 2, nullptr, 16));
}

static void collect(uint32_t code, std::set<uint32_t> &codes)
{
    if (!(code & trace_bit))
        codes.insert(code);
    else
        for (uint32_t frame : traces()[code & ~trace_bit]) codes.insert(frame);
}

static void collect(const std::string &text, std::set<uint32_t> &codes)
{
    each_code(text, [&](size_t, uint32_t code) { collect(code, codes); });
}

static std::string line_of(uint32_t code)
{
    if (!(code & trace_bit)) return lines()[code].empty() ? "an unknown line" : lines()[code];
    for (uint32_t frame : traces()[code & ~trace_bit])
        if (!lines()[frame].empty()) return lines()[frame];
    return "an unknown line";
}

static std::string with_lines(const std::string &text)
{
    std::string result;
    size_t done = 0;
    const size_t length = strlen("@{00000000}");
    each_code(text, [&](size_t i, uint32_t code) {
        result += text.substr(done, i - done) + line_of(code);
        done = i + length;
    });
    return result + text.substr(done);
}

std::vector<std::string> lines_of(const std::vector<uint32_t> &codes)
{
    std::lock_guard<std::recursive_mutex> lock(message_lock());
    std::set<uint32_t> frames;
    for (uint32_t code : codes) collect(code, frames);
    resolve(frames);
    std::vector<std::string> all;
    for (uint32_t code : codes) all.push_back(line_of(code));
    return all;
}

std::string resolved(const std::string &text)
{
    std::lock_guard<std::recursive_mutex> lock(message_lock());
    std::set<uint32_t> codes;
    collect(text, codes);
    resolve(codes);
    return with_lines(text);
}

/* ---- messages -------------------------------------------------------------------------------- */

std::string describe_thread(const launch_state &launch, uint32_t block, unsigned int thread)
{
    dim3 g = launch.request.grid, b = launch.request.block;
    char text[128];
    snprintf(text, sizeof text, "block (%u,%u,%u), thread (%u,%u,%u)", block % g.x,
             block / g.x % g.y, block / g.x / g.y, thread % b.x, thread / b.x % b.y,
             thread / b.x / b.y);
    return text;
}

std::string here(const worker &w)
{
    return std::string("kernel ") + w.launch->request.kernel + ", " +
           describe_thread(*w.launch, w.check->block, w.current) + ": ";
}

static const char *const allocation_mark = "@[";

std::string allocated(uint32_t code)
{
    return allocation_mark + at(code) + "]";
}

/* Where memory was allocated is a sentence of its own. */
static std::string with_allocation_last(std::string text)
{
    const size_t length = strlen("@[@{00000000}]");
    size_t mark = text.find(allocation_mark);
    if (mark == text.npos) return text;
    std::string code = text.substr(mark + 2, length - 3);
    text.erase(mark, length);
    return text + ". The memory was allocated at " + code;
}

uint64_t found(const char *kind, const std::string &where, const std::string &what,
               const race_advice &advice, uint32_t guess)
{
    static uint64_t number;
    std::lock_guard<std::recursive_mutex> lock(message_lock());
    pending().push_back({kind, where, with_allocation_last(what), advice, 1, guess, ++number});
    return number;
}

void found(const char *kind, const std::string &where, const std::string &what,
           const std::string &right, uint32_t guess)
{
    race_advice advice;
    advice.right = right;
    found(kind, where, what, advice, guess);
}

void amend(uint64_t number, const race_advice &advice)
{
    std::lock_guard<std::recursive_mutex> lock(message_lock());
    for (finding &f : pending())
        if (f.number == number) f.advice = advice;
}

static std::set<uint32_t> &checked_guesses()
{
    static auto *all = new std::set<uint32_t>;
    return *all;
}

void guess_is_checked(uint32_t code)
{
    std::lock_guard<std::recursive_mutex> lock(message_lock());
    checked_guesses().insert(code);
}

void note(const std::string &what)
{
    std::lock_guard<std::recursive_mutex> lock(message_lock());
    pending().push_back({"note", "", what, {}, 0, 0, 0});
}

void count_fault()
{
    std::lock_guard<std::recursive_mutex> lock(message_lock());
    findings_total++;
}

/* The lines of a text alone, in whatever order: findings with the same ones are the same. */
static std::string only_lines(const std::string &text)
{
    std::multiset<std::string> lines;
    std::string all;
    each_code(text, [&](size_t, uint32_t code) { lines.insert(line_of(code)); });
    for (const std::string &line : lines) all += " " + line;
    return all;
}

/* How the second line of an advice stands to the first: -1 before it, 0 on it, 1 behind it or elsewhere. */
static int place_of_second(const race_advice &advice)
{
    std::string first = line_of(advice.first), second = line_of(advice.second);
    size_t a = first.rfind(':'), b = second.rfind(':');
    if (first == second) return 0;
    if (first.substr(0, a) != second.substr(0, b) || a == first.npos) return 1;
    return atol(second.c_str() + b + 1) < atol(first.c_str() + a + 1) ? -1 : 1;
}

static std::string with_turns(std::string text, bool of_next)
{
    for (size_t i; (i = text.find(next_turn)) != text.npos;)
        text.replace(i, strlen(next_turn), of_next ? " of the next turn" : "");
    return text;
}

void print_findings()
{
    std::lock_guard<std::recursive_mutex> lock(message_lock());
    static auto *told = new std::set<std::string>;
    std::set<uint32_t> codes;
    auto is_no_fault = [](const finding &f) { return checked_guesses().count(f.guess) > 0; };
    pending().erase(std::remove_if(pending().begin(), pending().end(), is_no_fault),
                    pending().end());
    if (pending().empty()) return;
    for (const finding &f : pending()) {
        for (const std::string *text : {&f.what, &f.advice.right, &f.advice.on_one_line})
            collect(*text, codes);
    }
    resolve(codes);
    fflush(stdout);
    for (const finding &f : pending()) {
        std::string key = f.kind + only_lines(f.what);
        if (f.kind == "note") key = f.what;
        findings_total += f.count;
        if (!told->insert(key).second || told->size() > most_findings) continue;
        int place = f.advice.first ? place_of_second(f.advice) : 1;
        bool of_next = place < 0 || (place == 0 && f.advice.turns);
        bool one_line = place == 0 && !of_next;
        std::string right = with_turns(one_line ? f.advice.on_one_line : f.advice.right, of_next);
        fprintf(stderr, "cucc: %s%s%s\n", f.kind == "note" ? "note: " : "", f.where.c_str(),
                with_lines(with_turns(f.what, of_next)).c_str());
        if (!right.empty()) fprintf(stderr, "cucc:   right: %s\n", with_lines(right).c_str());
        if (told->size() == most_findings) fprintf(stderr, "cucc: more findings are not told\n");
    }
    pending().clear();
}

bool anything_found()
{
    print_findings();
    return findings_total > 0;
}
} // namespace cucc
