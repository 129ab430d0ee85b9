/* Messages of --check: collected, with addresses of code turned into lines by addr2line, and printed when a
 * launch and when the program ends. */
#include "check_page.h"
#include <execinfo.h>
#include <unistd.h>

namespace cucc
{
enum { most_frames = 12, most_findings = 50, trace_bit = 1u << 31 };

struct finding {
    std::string kind, where, what;
    race_advice advice;
    uint32_t guess; /* the plain load, or 0 */
    uint64_t number;
    std::vector<std::string> labels; /* of its lines, on the page */
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

/* What has been printed, for the page. */
static std::vector<told_fault> &told_faults()
{
    static auto *all = new std::vector<told_fault>;
    return *all;
}
static std::vector<std::string> &told_notes()
{
    static auto *all = new std::vector<std::string>;
    return *all;
}
static uint64_t untold;
static bool page_is_old;
/* How often each finding has come, by its number. */
static std::vector<uint64_t> &times()
{
    static auto *all = new std::vector<uint64_t>(1);
    return *all;
}

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

static uint64_t next_number()
{
    times().push_back(1);
    if (run_page) run_page->fault(times().size() - 1);
    return times().size() - 1;
}

uint64_t found(const char *kind, const std::string &where, const std::string &what,
               const race_advice &advice, uint32_t guess)
{
    std::lock_guard<std::recursive_mutex> lock(message_lock());
    uint64_t number = next_number();
    pending().push_back({kind, where, with_allocation_last(what), advice, guess, number, {}});
    return number;
}

uint64_t found(const char *kind, const std::string &where, const std::string &what,
               const std::string &right, uint32_t guess)
{
    race_advice advice;
    advice.right = right;
    return found(kind, where, what, advice, guess);
}

void found_again(uint64_t number)
{
    std::lock_guard<std::recursive_mutex> lock(message_lock());
    times()[number]++;
    if (run_page) run_page->fault(number);
}

void amend(uint64_t number, const race_advice &advice)
{
    std::lock_guard<std::recursive_mutex> lock(message_lock());
    for (finding &f : pending())
        if (f.number == number) f.advice = advice;
}

void label(uint64_t number, const std::vector<std::string> &labels)
{
    std::lock_guard<std::recursive_mutex> lock(message_lock());
    for (finding &f : pending())
        if (f.number == number) f.labels = labels;
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
    pending().push_back({"note", "", what, {}, 0, 0, {}});
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

/* ---- what is told ---------------------------------------------------------------------------- */

/* The words of a message before a line: from the last comma, colon or line on, without "at". */
static std::string words_before(const std::string &text, size_t line)
{
    size_t begin = 0;
    for (const char *mark : {", ", ": ", ". ", " that ", " what ", " which ", " and ", "} "}) {
        size_t last = line ? text.rfind(mark, line - 1) : text.npos;
        if (last != text.npos) begin = std::max(begin, last + strlen(mark));
    }
    std::string words = text.substr(begin, line - begin);
    for (const std::string end : {" at ", " of ", " in ", " before "})
        if (words.size() > end.size() && !words.compare(words.size() - end.size(), end.size(), end))
            words.erase(words.size() - end.size());
    return words;
}

/* WHERE: who "it" is. */
static void add_place(std::vector<told_place> &places, const std::string &where, std::string label,
                      const std::string &line)
{
    if (line == line_of(0)) return; /* unknown */
    size_t block = where.find("block ("), end = where.rfind(": ");
    if (block != where.npos && end != where.npos && !label.compare(0, 3, "it "))
        label = where.substr(block, end - block) + label.substr(2);
    for (told_place &p : places)
        if (p.line == line && p.label == label) return;
    places.push_back({label, line});
}

static std::vector<told_place> places_of(const finding &f)
{
    std::vector<told_place> places;
    size_t number = 0;
    each_code(f.what, [&](size_t i, uint32_t code) {
        bool labelled = number < f.labels.size();
        add_place(places, f.where, labelled ? f.labels[number] : words_before(f.what, i),
                  line_of(code));
        number++;
    });
    return places;
}

/* Of a text that names lines as they are, after "at": FILE:NUMBER. */
static std::vector<told_place> places_of(const std::string &where, const std::string &text)
{
    std::vector<told_place> places;
    const std::string before = " at ";
    for (size_t i = 0; (i = text.find(before, i)) != text.npos;) {
        i += before.size();
        size_t colon = text.find(':', i), next = text.find(before, i);
        if (colon == text.npos || colon > next || !isdigit(text[colon + 1])) continue;
        size_t end = text.find_first_not_of("0123456789", colon + 1);
        add_place(places, where, words_before(text, i),
                  text.substr(i, std::min(end, text.size()) - i));
    }
    return places;
}

/* Of what has ended a launch: its kind, and what would be right. */
struct failed_launch {
    const char *words, *kind, *right;
};

static const failed_launch &what_failed(const std::string &text)
{
    static const failed_launch all[] = {
        {"divergent barrier", "barrier",
         "all threads of a block come to the same __syncthreads(): no barrier inside a condition "
         "that differs among them"},
        {"barrier at", "barrier",
         "no thread returns before a barrier that others wait at: a condition around the work in "
         "place of the return"},
        {"the barrier of the grid", "barrier", "all blocks come to the sync of the grid"},
        {"needs a cooperative launch", "barrier", "cudaLaunchCooperativeKernel()"},
        {"deadlock in a warp function", "warp",
         "all lanes of a mask come to the same warp function, with the same mask"},
        {"warp function called", "warp",
         "a mask that holds the lanes that come, as __ballot_sync() before the branch gives it"},
        {"is a function of all 32 lanes", "warp",
         "whole warps: blocks of a multiple of 32 threads"},
        {"where there is no memory", "bounds", "a check of the index, and of the pointer"},
        {"out of its bounds", "bounds", "a check of the coordinates; x of a surface is in bytes"},
        {"divided by zero", "launch", "a check of the divisor"},
        {"", "launch", ""},
    };
    const failed_launch *found = all;
    while (text.find(found->words) == text.npos) found++;
    return *found;
}

static void keep_fault(const std::string &where, const std::string &text, const char *kind,
                       const char *right)
{
    if (!run_page) return;
    told_faults().push_back({kind, where, text, right, places_of(where, text), {next_number()}, 0});
    page_is_old = true;
}

/* A fault that has ended a launch, and was printed. */
void note_fault(const worker &w, const char *text)
{
    std::lock_guard<std::recursive_mutex> lock(message_lock());
    const failed_launch &is = what_failed(text);
    findings_total++;
    if (*is.right) fprintf(stderr, "cucc:   right: %s\n", is.right);
    keep_fault(here(w), text, is.kind, is.right);
}

std::vector<told_fault> faults_for_page()
{
    std::lock_guard<std::recursive_mutex> lock(message_lock());
    std::vector<told_fault> faults = told_faults();
    for (told_fault &f : faults)
        for (uint64_t number : f.findings) f.times += times()[number];
    return faults;
}

std::vector<std::string> notes_for_page()
{
    std::lock_guard<std::recursive_mutex> lock(message_lock());
    return told_notes();
}

uint64_t faults_untold()
{
    return untold;
}

/* Why a call was refused; the program is told of it by an error. */
void say(const char *format, ...)
{
    char text[4000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "cucc: %s\n", text);
    if (!run_page) return;
    std::lock_guard<std::recursive_mutex> lock(message_lock());
    told_notes().push_back(resolved(text + (", at " + at(calling_code()))));
    page_is_old = true;
}

/* A finding that is new goes to stderr and to the page. */
static void tell(const finding &f)
{
    int place = f.advice.first ? place_of_second(f.advice) : 1;
    bool of_next = place < 0 || (place == 0 && f.advice.turns);
    bool one_line = place == 0 && !of_next;
    std::string right =
        with_lines(with_turns(one_line ? f.advice.on_one_line : f.advice.right, of_next));
    std::string what = with_lines(with_turns(f.what, of_next));
    fprintf(stderr, "cucc: %s%s%s\n", f.kind == "note" ? "note: " : "", f.where.c_str(),
            what.c_str());
    if (!right.empty()) fprintf(stderr, "cucc:   right: %s\n", right.c_str());
    if (f.kind == "note")
        told_notes().push_back(what);
    else
        told_faults().push_back({f.kind, f.where, what, right, places_of(f), {f.number}, 0});
    page_is_old = true;
}

/* A program may end without a word. */
static void write_news()
{
    if (page_is_old && run_page)
        run_page->write("The program had not ended when this page was written.", false);
    page_is_old = false;
}

void print_findings()
{
    std::lock_guard<std::recursive_mutex> lock(message_lock());
    static auto *told = new std::map<std::string, size_t>; /* where in told_faults */
    std::set<uint32_t> codes;
    auto is_no_fault = [](const finding &f) { return checked_guesses().count(f.guess) > 0; };
    pending().erase(std::remove_if(pending().begin(), pending().end(), is_no_fault),
                    pending().end());
    if (pending().empty()) return write_news();
    for (const finding &f : pending()) {
        for (const std::string *text : {&f.what, &f.advice.right, &f.advice.on_one_line})
            collect(*text, codes);
    }
    resolve(codes);
    fflush(stdout);
    for (const finding &f : pending()) {
        bool is_note = f.kind == "note";
        std::string key = is_note ? f.what : f.kind + only_lines(f.what);
        findings_total += !is_note;
        auto known = told->find(key);
        if (known != told->end()) {
            if (!is_note) told_faults()[known->second].findings.push_back(f.number);
        } else if (told->size() == most_findings) {
            untold++;
        } else {
            (*told)[key] = told_faults().size();
            tell(f);
            if (told->size() == most_findings)
                fprintf(stderr, "cucc: more findings are not told\n");
        }
    }
    pending().clear();
    write_news();
}

bool anything_found()
{
    print_findings();
    return findings_total > 0;
}
} // namespace cucc

/* ---- undefined behaviour, with --sanitize ---------------------------------------------------- */

extern "C" __attribute__((weak)) void __ubsan_get_current_report_data(
    const char **kind, const char **message, const char **file, unsigned int *line,
    unsigned int *column, char **memory);

/* UndefinedBehaviorSanitizer calls it before it prints its message and ends the program. */
extern "C" void __ubsan_on_report()
{
    using namespace cucc;
    const char *kind, *message, *file;
    unsigned int line, column;
    char *memory;
    if (!__ubsan_get_current_report_data) return;
    __ubsan_get_current_report_data(&kind, &message, &file, &line, &column, &memory);
    if (self) fprintf(stderr, "cucc: %sthe fault below happened here\n", here(*self).c_str());
    print_findings();
    std::lock_guard<std::recursive_mutex> lock(message_lock());
    std::string text = std::string(message) + " at " + tidy(file) + ":" + std::to_string(line);
    text[0] = (char)tolower(text[0]);
    keep_fault(self ? here(*self) : "", text, "undefined", "");
    if (run_page)
        run_page->write("The program was ended, since it did what the language leaves undefined.",
                        true);
}
