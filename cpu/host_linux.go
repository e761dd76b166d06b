package cpu

import (
	"bufio"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// host returns the processor's name and the bytes of memory, 0 where it is not known.
func host() (name string, memory int64) {
	name = field("/proc/cpuinfo", "model name")
	if name == "" { // processors that are no x86 have no such line
		name = runtime.GOARCH + " processor"
	}
	kib, _ := strconv.ParseInt(strings.TrimSuffix(field("/proc/meminfo", "MemTotal"), " kB"), 10, 64)
	return name, kib << 10
}

// field returns the value of the first line "key: value" in a file, or "".
func field(path, key string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	return parseField(f, key)
}

func parseField(r io.Reader, key string) string {
	for lines := bufio.NewScanner(r); lines.Scan(); {
		if k, v, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
