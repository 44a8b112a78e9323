# Makes .venv ready; sourced by packaging/run and packaging/test.
#
# Skein answers first with a llama.cpp that others have compiled; ours is compiled behind it and takes its place. Where
# that is not possible, or compiled_only is set, ours is waited for.
#
# What was done is stamped, so a second start only compares stamps: no pip, no network. Everything is said on
# stderr, for stdout belongs to the program that is started.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
venv=$root/.venv
if [[ -d $venv ]]; then venv=$(cd "$venv" && pwd -P); fi  # its scripts name its own path, not that of a link to it
log=$venv/setup.log
compiled_only=''

say() { printf '%s\n' "$*" >&2; }

die() {
    say "$@"
    exit 1
}

# The virtual environment.

# ensure_venv EXTRA…: .venv holds Skein with these extras of pyproject.toml.
ensure_venv() {
    mkdir -p "$venv/llama"
    if ! is_set_up "$@"; then
        (
            flock --nonblock 9 || { say "Another set-up is running; waiting for it."; flock 9; }
            # The other one may have done it all.
            if ! is_set_up "$@"; then set_up "$@"; fi
        ) 9>"$venv/setup.lock"
    fi
    if has_ours; then remove_old_libraries; else compile_behind; fi
}

is_set_up() {
    local extra key
    [[ -x $venv/bin/python ]] && has_llama || return 1
    key=$(stamp_key)
    for extra in "$@"; do
        [[ $(stamped "$extra") == "$key" ]] || return 1
    done
}

stamp() { printf '%s\n' "$2" >"$venv/ready-$1"; }

stamped() { [[ ! -f $venv/ready-$1 ]] || printf '%s' "$(<"$venv/ready-$1")"; }

# Changes with the requirements, with the folder (scripts in .venv name it) and with the Python behind it.
stamp_key() {
    { cat "$root/pyproject.toml"; printf '%s\n' "$venv"; readlink -f "$venv/bin/python"; } | sha256sum | head -c 64
}

set_up() {
    local extra key may_answer=''
    say "Setting up Skein in $venv. This is done once."
    : >"$log"
    make_venv
    report_progress 9>&- &
    reporter=$!
    trap 'kill "$reporter" 2>/dev/null || true' EXIT
    install_binding || die_with_log
    trap stop_packages INT
    install_skein "$@" &
    packages=$!
    if ! has_llama; then
        if may_borrow && fetch_library; then may_answer=yes; else compile_ours; fi
    fi
    wait "$packages" || die_with_log
    trap - INT
    if [[ $may_answer ]]; then borrow_library || compile_ours; fi
    key=$(stamp_key)
    for extra in "$@"; do stamp "$extra" "$key"; done
    tell "Set-up done."
}

make_venv() {
    local python
    if venv_works; then return; fi
    # Half made, moved, or its Python is gone. The lock file must stay.
    rm -rf "${venv:?}"/{bin,include,lib,lib64,share,pyvenv.cfg} "$venv"/ready-*
    python=$(find_python) || python=$(install_python)
    "$python" -m venv "$venv"
}

venv_works() {
    # Its scripts name the folder it was made in.
    [[ -f $venv/pyvenv.cfg && $(<"$venv/pyvenv.cfg")$'\n' == *" $venv"$'\n'* ]] || return 1
    python_fits "$venv/bin/python" && "$venv/bin/python" -m pip --version >/dev/null 2>&1
}

# What is imported is compiled then; compiling all of it now would take longer than all downloads.
install_skein() {
    local extras
    extras=$(IFS=,; printf '%s' "$*")
    cd "$root"
    exec "${pip_install[@]}" --no-compile --editable ".[$extras]" >>"$log" 2>&1
}

# llama-cpp-python without its libraries, which takes no compiler.
install_binding() {
    local wanted
    wanted=$(llama_version)-$(sha256sum <"$root/packaging/binding.patch" | head -c 16)
    [[ $(stamped binding) != "$wanted" ]] || return 0
    {
        "${pip_install[@]}" --no-deps --force-reinstall --no-binary llama-cpp-python --config-settings=wheel.cmake=false \
            "$(llama_version)" &&
            PYTHONPATH=$root/packaging "$venv/bin/python" -c \
                'import sys; from pathlib import Path; from apply_patch import apply; apply(*map(Path, sys.argv[1:]))' \
                "$root/packaging/binding.patch" "$(dirname "$(llama_package)")"
    } >>"$log" 2>&1 && stamp binding "$wanted"
}

llama_package() { printf '%s' "$venv"/lib/python3*/site-packages/llama_cpp; }

pip_install=("$venv/bin/python" -m pip install --verbose --no-input --disable-pip-version-check)

# Ctrl+C does not reach what bash runs in the background.
stop_packages() {
    # shellcheck disable=SC2046
    kill $(jobs -p) 2>/dev/null || true
    tell "Set-up stopped."
    die "Start again to go on from here; what is downloaded and compiled is kept."
}

# die_with_log [LOG]: what failed is told at its end.
die_with_log() {
    local told_in=${1:-$log}
    kill "$reporter" 2>/dev/null || true
    if [[ $(tail -n 3 "$told_in") == *"cancelled by user"* ]]; then
        tell "Set-up stopped."
    else
        tell "Set-up failed. The last lines of $told_in:"
        tail -n 30 "$told_in" >&2
        [[ $(wanted_gpu) == cpu ]] || say "To go on without the GPU: packaging/run --gpu=cpu"
    fi
    die "Start again to go on from here; what is downloaded and compiled is kept."
}

# llama.cpp: ours, and what answers until it is compiled.

# All libraries that Skein may load are in folders of $venv/llama, and llama_cpp/lib is a link to one of them, so that
# another takes its place in one step. A program that runs keeps those it began with.

has_ours() { [[ $(stamped llama) == "$(wanted_llama)" ]]; }

# Ours, or what answers until it is there: a borrowed one, or ours of an earlier day.
has_llama() { has_ours || { [[ ! $compiled_only && $(stamped usable) == "$(usable_llama)" ]]; }; }

# use_libraries FOLDER: of $venv/llama, from the next start on.
use_libraries() {
    local link
    link=$(llama_package)/lib
    [[ -L $link ]] || rm -rf "$link"
    ln -sfn "../../../../llama/$1" "$link.new" && mv -fT "$link.new" "$link" && stamp usable "$(usable_llama)"
}

# Those that are neither used next nor by a program that still runs.
remove_old_libraries() {
    local folder used
    used=$(readlink "$(llama_package)/lib" 2>/dev/null) || return 0
    for folder in "$venv"/llama/*/; do
        folder=${folder%/}
        [[ ${folder##*/} == "${used##*/}" || -L $folder ]] || grep -qsF "$folder/" /proc/[0-9]*/maps || rm -rf "$folder"
    done
}

# Where a library is to be had that others have compiled, and nothing else was asked for.
may_borrow() {
    local feature features
    [[ ! $compiled_only && ! ${CMAKE_ARGS:-} && $(wanted_gpu) == cpu && $(uname -sm) == "Linux x86_64" ]] || return 1
    ! wants_plain_llama || return 1
    features=$(cpu_features)
    for feature in avx2 fma f16c bmi2; do
        [[ $'\n'$features$'\n' == *$'\n'"$feature"$'\n'* ]] || { refuse_library "this processor has no ${feature^^}"; return 1; }
    done
}

refuse_library() {
    tell "llama.cpp has to be compiled before the first answer: $1." "On two cores this takes several minutes, once."
}

fetch_library() {
    local reason
    [[ $venv/llama/borrowed/borrowed.txt -nt $root/packaging/first_library.txt ]] || reason=$(first_library fetch) ||
        { refuse_library "$reason"; return 1; }
}

borrow_library() {
    local reason
    reason=$(first_library check) || { refuse_library "$reason"; return 1; }
    use_libraries borrowed
    tell "Skein answers with $(<"$venv/llama/borrowed/borrowed.txt") until its own llama.cpp is compiled in the background."
}

first_library() { "$venv/bin/python" "$root/packaging/first_library.py" "$1" "$venv/llama/borrowed" 2>>"$log"; }

# Ours is compiled in a folder that all checkouts of this user share.
compile_ours() {
    local code=0
    ensure_compiler
    if take_ours; then return; fi
    build_llama >>"$log" 2>&1 || code=$?
    ((code < 128)) || die "Set-up stopped. Start again to go on from here."
    ((code == 0)) && take_ours || die_with_log "$(llama_cache)/log"
}

build_llama() {
    local args
    mapfile -t args < <(xargs -n 1 printf '%s\n' <<<"$(cmake_args)")
    mkdir -p "$(llama_cache)"
    "$venv/bin/python" "$root/packaging/build_llama.py" "$(llama_cache)" "$@" -- "${args[@]}"
}

# From the next start on, if it is there.
take_ours() {
    local wanted kept
    wanted=$(wanted_llama) kept=$(llama_cache)/lib
    [[ -d $kept ]] || return 1
    rm -rf "$venv/llama/$wanted"
    cp -a "$kept" "$venv/llama/$wanted" && use_libraries "$wanted" && stamp llama "$wanted"
    tell_missing_patches
}

# Goes on when this program ends, and is gone on with at the next start if it was stopped.
compile_behind() {
    ln -sfn "$(llama_cache)" "$venv/llama/build" # where the window reads how far it is
    setsid --fork bash -c 'set -euo pipefail; source "$1"; until_ours' - "$root/packaging/setup.sh" \
        </dev/null >>"$venv/llama/behind.log" 2>&1
}

# Where another checkout compiles the same, waits for that.
until_ours() {
    exec 8>"$venv/llama/behind.lock"
    flock --nonblock 8 || return 0
    until [[ -d $(llama_cache)/lib ]]; do
        build_llama --behind
        flock "$(llama_cache)/lock" true
    done
    exec 9>"$venv/setup.lock"
    flock 9
    has_ours || take_ours
}

wanted_gpu() { if [[ -f $venv/gpu ]]; then printf '%s' "$(<"$venv/gpu")"; else printf cpu; fi; }

llama_version() { grep -o 'llama-cpp-python==[0-9.]*' "$root/pyproject.toml"; }

# What another build must have in common with the wanted one to answer in its place.
usable_llama() {
    printf '%s-' "$(wanted_gpu)"
    { llama_version; printf '%s\n' "${CMAKE_ARGS:-}"; cpu_features; ! wants_plain_llama || echo plain; } | sha256sum | head -c 16
}

# All that makes the build what it is.
wanted_llama() {
    printf '%s-' "$(wanted_gpu)"
    { usable_llama; cat "$root"/packaging/{build_llama,apply_patch,llama_cpp_sources}.py; build_sources; } | sha256sum | head -c 16
}

build_sources() {
    find "$root/packaging/llama_cpp" -type f -not -name '*.patch' | sort | while read -r file; do cat "$file"; done
    wanted_patches | while read -r patch; do cat "$patch"; done
}

# What the compiler makes use of. On another machine, to which this folder was copied, it may be an illegal instruction.
cpu_features() {
    grep -m 1 -E '^(flags|Features)' "${SKEIN_CPUINFO:-/proc/cpuinfo}" 2>/dev/null |
        grep -oE '\b(ssse3|sse4|avx|amx|fma|f16c|bmi|abm|movbe|gfni|asimd|sve|i8mm|bf16)[a-z0-9_]*' || true
}

# Paths, a line each.
wanted_patches() { wants_plain_llama || find "$root/packaging/llama_cpp" -maxdepth 1 -name '*.patch' | sort; }

# Those that do not fit this version of llama.cpp were left out, so that no update waits for them.
tell_missing_patches() {
    local patch
    wanted_patches | while read -r patch; do
        patch=$(basename "$patch" .patch)
        grep -qx "$patch" "$(llama_package)/lib/patches.txt" ||
            tell "llama.cpp is built without $patch, which does not fit $(llama_version). All works without it, but slower."
    done
}

# A second llama_cpp without them in $venv/plain, for the tests.
ensure_plain_llama() {
    local wanted
    wanted=$(wanted_llama)-$(sha256sum <"$root/packaging/plain_library.py" | head -c 16)
    [[ $(stamped plain) != "$wanted" ]] || return 0
    "$venv/bin/python" "$root/packaging/plain_library.py" "$venv/plain" && stamp plain "$wanted"
}

wants_plain_llama() { [[ -f $venv/plain-llama ]]; }

# want_llama plain, or patched: remembered for every later start.
want_llama() {
    mkdir -p "$venv"
    if [[ $1 == plain ]]; then touch "$venv/plain-llama"; else rm -f "$venv/plain-llama"; fi
}

# want_gpu KIND: remembered for every later start.
want_gpu() {
    case $1 in
        cuda) need_tool nvcc "CUDA's compiler" nvidia-cuda-toolkit ;;
        vulkan)
            need_tool glslc "the compiler of Vulkan's shaders" glslc libvulkan-dev spirv-headers
            need_file /usr/include/vulkan/vulkan.hpp "Vulkan's headers" libvulkan-dev
            need_vulkan_headers
            need_file '/usr/*/cmake/SPIRV-Headers/SPIRV-HeadersConfig.cmake' "SPIR-V's headers" spirv-headers
            ;;
        metal) [[ $(uname) == Darwin ]] || die "--gpu=metal is for macOS. Here there are cuda, vulkan and cpu." ;;
        cpu) ;;
        *) die "--gpu=$1: choose one of cuda, vulkan, metal and cpu." ;;
    esac
    mkdir -p "$venv"
    printf '%s\n' "$1" >"$venv/gpu"
}

# need_tool PROGRAM WHAT PACKAGE…
need_tool() {
    command -v "$1" >/dev/null || { shift; missing_for_gpu "$@"; }
}

# need_file PATTERN WHAT PACKAGE…: not where an SDK says that it has it.
need_file() {
    [[ -n ${VULKAN_SDK:-} || -n $(compgen -G "$1") ]] || { shift; missing_for_gpu "$@"; }
}

# Older ones lack what llama.cpp uses without asking (VK_EXT_layer_settings).
need_vulkan_headers() {
    local version header=${VULKAN_SDK:-/usr}/include/vulkan/vulkan_core.h
    version=$(sed -n 's/^#define VK_HEADER_VERSION \([0-9]*\)$/\1/p' "$header" 2>/dev/null) || return 0
    if [[ $version ]] && ! grep -q VK_EXT_layer_settings "$header"; then
        die "To build for Vulkan, its headers must be of version 1.3.272 or newer, and $header is of 1.3.$version." \
            "Install the Vulkan SDK of https://vulkan.lunarg.com, set VULKAN_SDK to its folder and start again."
    fi
}

missing_for_gpu() {
    local what=$1
    shift
    die "To build for this GPU, $what is missing. Debian calls the packages: $*. Install them and start again:" \
        $'\n'"  sudo apt-get install $*"
}

gpu_args() {
    case $(wanted_gpu) in
        cuda) printf -- '-DGGML_CUDA=ON ' ;;
        vulkan) printf -- '-DGGML_VULKAN=ON ' ;;
        metal) printf -- '-DGGML_METAL=ON ' ;;
    esac
}

llama_cache() { printf '%s/skein/llama/%s' "${XDG_CACHE_HOME:-$HOME/.cache}" "$(wanted_llama)"; }

# The user's CMAKE_ARGS go last.
cmake_args() {
    printf '%s' "$(gpu_args)" "$(! wants_plain_llama || printf -- '-DPLAIN_LLAMA=ON ')" "${CMAKE_ARGS:-}"
}

# What is going on.

# On a terminal one line that changes, else a line every 15 seconds. Ends with the set-up.
report_progress() {
    local work elapsed next_line=0
    SECONDS=0
    while kill -0 $$ 2>/dev/null; do
        work=$(current_work)
        elapsed=$(printf '%d:%02d' $((SECONDS / 60)) $((SECONDS % 60)))
        if [[ -t 2 ]]; then
            printf '\r\033[K  %s  %s' "$elapsed" "$work" >&2
        elif ((SECONDS >= next_line)); then
            say "  $elapsed  $work"
            next_line=$((SECONDS + 15))
        fi
        sleep 1
    done
}

# A line of its own, and not after one of the progress.
tell() {
    [[ ! -t 2 ]] || printf '\r\033[K' >&2
    say "$@"
}

# Read from what the build, or pip, wrote last.
current_work() {
    local last status
    status=$(cat "$(llama_cache)/status.json" 2>/dev/null) || true
    if [[ $status == *'"state": "running"'*'"behind": false'* ]] && kill -0 "$(sed -E 's/.*"pid": ([0-9]+).*/\1/' <<<"$status")" 2>/dev/null; then
        build_words <<<"$status"
        return
    fi
    last=$(grep -aoE 'Downloading [^ ]+|Installing collected|Building wheel for llama|Building editable' "$log" | tail -n 1) || true
    case $last in
        Downloading*) last=${last##*[ /]} && printf 'downloading %s (about a minute in all)' "${last%%-[0-9]*}" ;;
        Installing*) printf 'installing the packages (about half a minute)' ;;
        Building*) printf 'preparing %s' "${last##* }" ;;
        *) printf 'looking for packages (about a minute in all)' ;;
    esac
}

build_words() {
    sed -E -e 's/.*"what": "([^"]*)".*"step": ([0-9]+), "steps": ([0-9]+), "seconds_left": (null|[0-9]+).*/\1, step \2 of \3, \4/' \
        -e 's/, step [0-9]+ of 0,/,/; s/, null$//' -e 's/, [0-9]+$/ &/' | {
        local words seconds
        read -r words || true
        seconds=${words##*, }
        if [[ $seconds =~ ^[0-9]+$ ]]; then words="${words% , *}, about $((seconds / 60 + 1)) min left"; fi
        printf '%s' "$words"
    }
}

# Python.

# The first Python that fits and can make virtual environments.
find_python() {
    local python
    for python in python3 python3.13 python3.12 python3.11; do
        if python_fits "$python" && "$python" -c 'import ensurepip, venv' 2>/dev/null; then
            printf '%s' "$python"
            return
        fi
    done
    return 1
}

python_fits() {
    "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null
}

install_python() {
    # Debian keeps ensurepip in a package of its own.
    install_packages "Python 3.11, 3.12 or 3.13 with venv" python3 python3-venv
    find_python || die "Skein needs Python 3.11, 3.12 or 3.13 with its venv module, and found none on PATH."
}

# The system's packages.

ensure_compiler() {
    if command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null; then return; fi
    install_packages "a C++ compiler (for llama-cpp-python)" g++
}

# What Qt needs to open a window here; `skein ask` does without.
ensure_window_libraries() {
    local platform=xcb stamp=$venv/ready-window missing
    [[ -z ${WAYLAND_DISPLAY:-} ]] || platform=wayland
    if [[ -f $stamp && $(<"$stamp") == "$platform" && ! $venv/ready-gui -nt $stamp ]]; then return; fi
    missing=$(missing_libraries "$platform")
    if [[ $missing ]]; then
        # shellcheck disable=SC2046,SC2086 # a list of names
        install_packages "system libraries for the window" $(debian_packages $missing)
        missing=$(missing_libraries "$platform")
        [[ -z $missing ]] || die "Still missing for the window: ${missing//$'\n'/ }"
    fi
    printf '%s\n' "$platform" >"$stamp"
}

missing_libraries() {
    local qt
    for qt in "$venv"/lib/python3*/site-packages/PySide6; do
        # A file that is not there has no libraries; starting says what is wrong then.
        LC_ALL=C ldd "$qt"/{QtWidgets,QtSvg}.abi3.so "$qt/Qt/plugins/platforms/libq$1.so" 2>/dev/null || true
    done | awk '/not found/ { print $1 }' | sort -u
}

# Debian names a library package after the soname: libEGL.so.1 is in libegl1, libX11.so.6 in libx11-6.
debian_packages() {
    local soname name
    for soname in "$@"; do
        case $soname in
            libglib-2.0.so.0 | libgthread-2.0.so.0) name=libglib2.0-0 ;;
            *[0-9].so.*) name=${soname/.so./-} ;;
            *) name=${soname/.so./} ;;
        esac
        printf '%s\n' "${name,,}"
    done | sort -u
}

ensure_window_test_tools() {
    local missing=()
    command -v Xvfb >/dev/null || missing+=(xvfb)
    command -v openbox >/dev/null || missing+=(openbox)
    command -v xdotool >/dev/null || missing+=(xdotool)
    command -v import >/dev/null || missing+=(imagemagick)
    command -v pcmanfm >/dev/null || missing+=(pcmanfm)
    command -v dbus-run-session >/dev/null || missing+=(dbus-daemon)
    command -v update-desktop-database >/dev/null || missing+=(desktop-file-utils)
    command -v update-mime-database >/dev/null || missing+=(shared-mime-info)
    if ((${#missing[@]})); then install_packages "tools for the tests of the real window" "${missing[@]}"; fi
}

ensure_api_test_tools() {
    if ! command -v curl >/dev/null; then install_packages "curl, for the tests of the API" curl; fi
}

# install_packages WHAT PACKAGE…: as root by apt-get; anyone else is told the command.
install_packages() {
    local what=$1
    shift
    if ! command -v apt-get >/dev/null; then
        die "Missing on this machine: $what. Debian calls the packages: $*. Install them and start again."
    elif ((EUID != 0)); then
        die "Missing on this machine: $what. Install the packages and start again:"$'\n'"  sudo apt-get install $*"
    fi
    say "Installing $what: $*"
    # A fresh clone has no .venv for the log yet, and a fresh system no package lists.
    mkdir -p "${log%/*}"
    apt_install "$@" || { apt-get update --quiet >>"$log" 2>&1 && apt_install "$@"; } || {
        tail -n 10 "$log" >&2
        die "apt-get could not install: $*. All it said is in $log."
    }
}

apt_install() {
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --no-install-recommends "$@" >>"$log" 2>&1 </dev/null
}
