#!/usr/bin/env bash
# Plants each fault of races.cu, memory.cu and host.cu and looks for the report that names it, with its lines;
# of slow.cu, for the row of --report. The right twins must be silent. Prints TAP, and how many of each kind
# were named.
set -u
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/../../../tests/ends.bash" # ^C ends the compilations, too

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cucc=$here/../../cucc
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LC_ALL=C
unset CUCC_DEVICES CUCC_ORDER CUCC_THREADS CUCC_MEMORY CUCC_COUNTS CUCC_STREAMS CUCC_FAIL CUCC_GPU

number=0
failures=0
declare -A planted found
count() { # PASSED KIND
    planted[$2]=$((${planted[$2]:-0} + 1))
    [ "$1" = no ] || found[$2]=$((${found[$2]:-0} + 1))
}
result() { # PASSED NAME
    number=$((number + 1))
    if [ "$1" = yes ]; then
        echo "ok $number - $2"
    else
        echo "not ok $number - $2"
        failures=$((failures + 1))
        sed 's/^/#   /' "$work/said" | head -n 12
    fi
}

# races SHORT KIND TAG...: what a line of the report must have; /K/ stands for a kind of message.
kind() {
    case $1 in
    race) echo 'race on ' ;;
    unwritten) echo ', which nobody has written' ;;
    brought) echo 'it reads byte 0 of .*, which was copied at .* from byte 0 of the 1024 bytes allocated at .*, which nobody has written' ;;
    bounds) echo 'it (reads|writes) byte -?[0-9]+ of ' ;;
    freed) echo 'which was freed' ;;
    misaligned) echo 'whose address is no multiple of ' ;;
    copied) echo 'the host reads at .* what was copied at .* which nobody has written' ;;
    beside) echo 'the host (reads|writes) byte -?[0-9]+ of the' ;;
    timed) echo 'the host asks at .* when an event was that may still be to come' ;;
    far) echo 'it writes address 0x[0-9a-f]+, [0-9]+ bytes behind the [0-9]+ bytes of device memory, at' ;;
    nowhere) echo 'it reads address 0x0, where there is no memory' ;;
    stray) echo 'it reads memory of the host' ;;
    flight) echo 'which the asynchronous copy at .* may still be filling' ;;
    divergent) echo 'divergent barrier' ;;
    incomplete) echo 'is never complete' ;;
    outside) echo 'not in its mask' ;;
    deadlock) echo 'deadlock in a warp function' ;;
    argument) echo 'is not in live device memory' ;;
    early) echo 'the host (reads|writes) memory at .* that .* may still ' ;;
    order) echo 'in streams that nothing orders' ;;
    host) echo 'the host (reads|writes) (device memory|a __device__ variable)' ;;
    unchecked) echo ' failed \(.*, and nobody looked at the error' ;;
    function) echo 'as argument 1 the address of a function that the host has taken' ;;
    virtual) echo 'it calls at .* a virtual function of an object that the host has made' ;;
    lanes) echo 'wmma::load_matrix_sync is a function of all 32 lanes of a warp, and 28 lanes are missing' ;;
    leak) echo 'bytes of (device|pinned) memory .* are never freed' ;;
    shared) echo 'bytes of dynamic shared memory are asked for, and a block of a100 has at most' ;;
    clusters) echo 'a100 has no clusters' ;;
    registers) echo '32 warps of 72 registers a thread are more than the 65536 registers of a100' ;;
    esac
}

line_of() { # FILE TAG
    grep -n "/\* $2 \*/" "$here/$1.cu" | cut -d: -f1
}

# named FILE CASE KIND TAG...
named() {
    local file=$1 case=$2 wanted status
    wanted=$(kind "$3")
    shift 3
    timeout 20 "$work/$file" "$case" >"$work/said" 2>&1 </dev/null
    status=$?
    grep -E -e "^cucc: .*$wanted" "$work/said" >"$work/lines"
    for tag in "$@"; do
        grep -E -e "$file\.cu:$(line_of "$file" "$tag")([^0-9]|\$)" "$work/lines" >"$work/next"
        mv "$work/next" "$work/lines"
    done
    [ $status -ne 0 ] && [ $status -ne 124 ] && [ -s "$work/lines" ]
}

silent() { # FILE CASE
    timeout 20 "$work/$1" "$2" >"$work/said" 2>&1 </dev/null && [ ! -s "$work/said" ]
}

"$cucc" --check -Xcompiler -Wall,-Wextra -Werror all-warnings "$here/races.cu" -o "$work/races" >"$work/races.log" 2>&1 &
(
    "$cucc" --check -Xcompiler -Wall,-Wextra -Werror all-warnings "$here/memory.cu" -o "$work/memory" >"$work/memory.log" 2>&1
    "$cucc" --report -Xcompiler -Wall,-Wextra -Werror all-warnings "$here/slow.cu" -o "$work/slow" >"$work/slow.log" 2>&1
    "$cucc" --check --gpu a100 --registers 72 -Xcompiler -Wall,-Wextra -Werror all-warnings "$here/host.cu" -o "$work/host" >"$work/host.log" 2>&1
) &
wait
for file in races memory host slow; do
    sed '/^cucc: building the runner/d' "$work/$file.log" >"$work/said"
    [ -e "$work/$file" ] && [ ! -s "$work/said" ] && built=yes || built=no
    result "$built" "$file builds without a warning"
done

while read -r file case wanted; do
    [ "$file" ] || continue
    # shellcheck disable=SC2086 # kind and tags
    named "$file" "$case" $wanted && passed=yes || passed=no
    result "$passed" "$file $case: $wanted"
    count "$passed" "${wanted%% *}"
done <<'END'
races no_barrier race no_barrier_w no_barrier_r
races no_second_barrier race second_w second_r
races tree_no_barrier race tree
races tree_result race result_w result_r
races no_syncwarp race warp_w warp_r
races syncwarp_of_block race narrow_w narrow_r
races half_mask race mask_w mask_r
races all_write race all_write
races scan_in_place race scan
races tile_no_barrier race tile_w tile_r
races histogram_no_atomic race bins
races atomic_and_plain race plain_w plain_a
races atomic_then_read race then_a then_r
races dynamic_no_barrier race dynamic_w dynamic_r
races dynamic_overlap race overlap_a overlap_b
races two_stages race stage_r stage_w
races broadcast race broadcast_w broadcast_r
races halo race halo_w halo_r
races bytes race bytes_w bytes_r
races vectors race vector_w vector_f
races barrier_no_wait race arrive_w arrive_r
races async_no_wait flight async_first async_r
races async_no_wait flight async_second async_r2
races async_one_left flight async_first async_r
races async_no_commit flight async_first async_r
races async_wait_after flight after_w after_r
races pipeline_no_wait flight pipe_w pipe_r
races stages_no_wait flight stages_w stages_r
races group_copy_no_wait flight cg_w cg_r
races barrier_copy_no_wait flight ready_w ready_r
races group_too_small race group_w group_r
races global_neighbour race neighbour_w neighbour_r
races stencil_in_place race stencil
races blocks_in_order race chain_r chain_w
races counter_no_atomic race counter
races guess_then_exchange race guess_r guess_w
races table_changes race table_r table_w
races shared_table_changes race stable_r stable_w
races maximum race maximum
races shift race shift
races device_variable race variable
races everyone_last race last
races sum_read_early race early_a early_r
races last_no_fence race left_w left_r
races last_late_fence race left_w left_r
races lock_no_fence race locked
races grid_no_sync race grid_w grid_r
races cluster_no_sync race cluster_w cluster_r
races branch_barrier divergent branch_a branch_b
races early_exit incomplete exit
races uneven_loop incomplete uneven
races exit_in_half_warp outside
races masks_apart deadlock
races full_mask_in_branch deadlock
memory past_the_end bounds past
memory before_the_begin bounds before
memory far_past far far_past
memory heap_past bounds heap_past
memory a_row_below bounds row
memory shared_past bounds shared_past
memory shared_row bounds shared_row
memory dynamic_past bounds dynamic_past
memory dynamic_none bounds dynamic_past
memory never_written unwritten increment
memory partly_written unwritten increment
memory copied_unwritten brought increment brought fresh
memory variable_past bounds variable_past
memory never_set unwritten never_set
memory off_by_two misaligned off_by_two
memory off_by_one misaligned off_by_one
memory off_in_shared misaligned off_in_shared
memory half_beyond bounds half_beyond
memory list_on_heap stray list
memory list_on_stack stray list
memory list_of_nothing nowhere list
memory rows_of_the_host stray levels
memory cub_unwritten unwritten cub_unwritten
memory storage_again race storage_w storage_r
memory shared_unwritten unwritten shared_unwritten
memory bins_unwritten unwritten bins_unwritten
memory dynamic_unwritten unwritten dynamic_unwritten
memory second_block_unwritten unwritten second_block
memory count_up unwritten count_up
memory copy_all unwritten copy_all
memory host_pointer argument
memory freed_pointer freed list
host reads_early early reads_h reads_k
host writes_early early writes_h writes_k
host copy_not_awaited early copy_h copy_c
host source_changed early source_h source_c
host grid_too_small copied small_c small_h
host grid_asserted copied asserted_c asserted_h
host column_forgotten copied column_c column_h
host host_past beside host_past
host host_before beside host_before
host time_not_awaited timed time
host streams_apart order apart_k apart_c
host kernels_apart order first_k second_k
host event_too_early order early_first early_second
host staged order staged_c staged_k
host host_reads_device host host_reads
host host_writes_device host host_writes
host host_reads_variable host host_variable
host unchecked_malloc unchecked unchecked_malloc
host unchecked_copy unchecked unchecked_copy
host wrong_direction unchecked direction
host unchecked_launch unchecked unchecked_launch
host unchecked_shared unchecked unchecked_shared
host freed_twice unchecked twice
host host_function function host_function
host virtual_of_host virtual area
host virtual_in_managed virtual area
host part_of_warp lanes
host leak leak leak
host pinned_leak leak pinned_leak
host too_much_shared shared
host clusters clusters
host registers registers
END

# advised FILE CASE COUNT ADVICE: so many lines of advice on races, all of them this one; /TAG/ is FILE and the line of a tag
advised() {
    local wanted=$4 tag
    while [[ $wanted =~ /([a-z_0-9]+)/ ]]; do
        tag=${BASH_REMATCH[1]}
        wanted=${wanted//"/$tag/"/"[^ ]*$1\.cu:$(line_of "$1" "$tag")"}
    done
    timeout 20 "$work/$1" "$2" >"$work/said" 2>&1 </dev/null
    awk '/^cucc:   right:/ && race; { race = / race on / }' "$work/said" >"$work/lines"
    [ "$(grep -c . "$work/lines")" = "$3" ] && [ "$(grep -cE -e "^cucc:   right: $wanted\$" "$work/lines")" = "$3" ]
}
while IFS='|' read -r file case times advice; do
    advised "$file" "$case" "$times" "$advice" && passed=yes || passed=no
    result "$passed" "$file $case: right: $advice"
    count "$passed" advice
done <<'END'
races|no_barrier|1|__syncthreads\(\) between /no_barrier_w/ and /no_barrier_r/
races|no_second_barrier|1|__syncthreads\(\) between /second_r/ and /second_w/ of the next turn
races|product_no_second|2|__syncthreads\(\), or __syncwarp\(\) among lanes of a warp, between /product_r/ and (/product_a/|/product_b/) of the next turn
races|tree_no_barrier|1|__syncthreads\(\), or __syncwarp\(\) among lanes of a warp, between /tree/ and /tree/ of the next turn
races|scan_in_place|1|__syncthreads\(\), or __syncwarp\(\) among lanes of a warp, between the loads and the stores of /scan/
races|histogram_no_atomic|1|atomicAdd\(\), or another atomic function, at /bins/
races|counter_no_atomic|1|atomicAdd\(\), or another atomic function, at /counter/
races|lock_no_fence|1|atomicAdd\(\), or another atomic function, at /locked/; under a lock, __threadfence\(\) before it is opened
races|maximum|1|atomicAdd\(\), or another atomic function, at /maximum/
races|all_write|1|a condition that lets one thread write it, or a place for each thread
END
advised races no_second_barrier 1 '__syncthreads\(\) between /second_w/ and /second_r/' && passed=no || passed=yes
result "$passed" "another advice is not taken for the right one"
"$work/races" branch_barrier >"$work/said" 2>&1
grep -qE '^cucc:   right: all threads of a block come to the same __syncthreads' "$work/said" && passed=yes || passed=no
result "$passed" "what would be right of a barrier"
"$work/memory" past_the_end >"$work/said" 2>&1
grep -qE "it writes byte 1024 of the 1024 bytes of device memory at [^ ]*memory\.cu:$(line_of memory past)\. The memory was allocated at [^ ]*memory\.cu:[0-9]+\$" "$work/said" && passed=yes || passed=no
result "$passed" "where memory was allocated is a sentence of its own"

# no error came, and nobody would have seen it
for case in launch_unseen call_unseen; do
    "$work/host" $case >"$work/said" 2>&1 && passed=yes || passed=no
    grep -qE "^cucc: note: 1 calls and launches whose errors nobody would see, the first at .*host\.cu:$(line_of host $case)\$" "$work/said" || passed=no
    result "$passed" "host $case: a note"
    count "$passed" note
done

# of two files, each a module of its own
echo '__constant__ float more[10000]; __global__ void l(float *p) { *p = more[1]; }' >"$work/more.cu"
echo '__constant__ float table[SIZE]; __global__ void k(float *p) { *p = table[1]; } int main() { return 0; }' >"$work/table.cu"
for size in 16384 16385; do
    (cd "$work" && "$cucc" --check -DSIZE=$size table.cu more.cu -o table && ./table) >"$work/said" 2>&1
    [ $? = $((size > 16384 ? 23 : 0)) ] && passed=yes || passed=no
    [ $size = 16384 ] || grep -q 'the __constant__ variables of a file take 65540 bytes up to that of .*table.cu:1, and a GPU has 65536' "$work/said" || passed=no
    result "$passed" "constants of $((4 * size)) bytes"
    [ $size = 16384 ] || count "$passed" constants
done

# the checks themselves must be able to fail
named races right_barrier race && passed=no || passed=yes
result "$passed" "a race is not named where there is none"
named races no_barrier race no_barrier_w tree && passed=no || passed=yes
result "$passed" "another line is not taken for the right one"

for file in races memory host; do
    while read -r case; do
        silent "$file" "$case" && passed=yes || passed=no
        result "$passed" "$file $case: nothing to say"
    done < <(grep -oE '\b(IS|KERNEL|ONE|BLOCKS|RUN)\(right_[a-z_]+' "$here/$file.cu" | sed 's/.*(//' | sort -u)
done

# ---- right and slow: what --report says --------------------------------------------------------

CUCC_REPORT=$work/slow.csv "$work/slow" >"$work/said" 2>&1 && [ ! -s "$work/said" ] && passed=yes || passed=no
result "$passed" "slow runs"

# slow TAG WHAT TAKES NEEDS: units of all requests of a line, and what these need
slow() {
    grep -E -e "slow\.cu:$(line_of slow "$1"),$2," "$work/slow.csv" | tee "$work/said" |
        awk -F, -v takes="$3" -v needs="$4" '{ n++ } $(NF - 1) != takes * $(NF - 2) || $NF != needs * $(NF - 2) { n = -9 } END { exit n < 1 }'
}
while IFS='|' read -r tag kind what takes needs; do
    slow "$tag" "$what" "$takes" "$needs" && passed=yes || passed=no
    result "$passed" "slow $tag: $what takes $takes, needs $needs"
    count "$passed" "$kind"
done <<'END'
by_rows|uncoalesced|global load|32|4
every_second|uncoalesced|global load|8|4
one_off|uncoalesced|global load|5|4
one_field|uncoalesced|global load|16|4
scattered|uncoalesced|global store|32|4
transposed|uncoalesced|global store|32|4
column|conflict|shared load|32|1
pairs|conflict|shared store|2|1
pitch_of_8|conflict|shared store|8|1
same_bank|conflict|shared store|32|1
weight_each|serialised|constant load|32|1
four_bins|serialised|shared atomic|8|1
one_word|serialised|global atomic|32|1
odd_and_even|diverged|branch|2|1
uneven_loop|diverged|branch|1.96875|1
END
slow every_second 'global load' 4 4 && passed=no || passed=yes
result "$passed" "another figure is noticed"
awk -F, '/^"right_/ { n++; if ($(NF - 1) != $NF) print } END { exit n < 12 }' "$work/slow.csv" >"$work/said" && [ ! -s "$work/said" ] && passed=yes || passed=no
result "$passed" "slow: right kernels take what they need"

for kind in "${!planted[@]}"; do
    printf '# %-11s %2d of %2d planted faults named\n' "$kind" "${found[$kind]:-0}" "${planted[$kind]}"
done | sort
all=0
for kind in "${!planted[@]}"; do all=$((all + planted[$kind])); done
[ $all -ge 100 ] && passed=yes || passed=no
result "$passed" "$all faults are planted"
echo "1..$number"
[ $failures -eq 0 ]
