package cpu

import (
	"bufio"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
)

// host returns the processor's name, and the bytes of memory that the process may use, 0 if that is
// unknown.
func host() (name string, memory int64) {
	root := os.DirFS("/")
	name = field(root, "proc/cpuinfo", "model name")
	if name == "" { // only x86 processors have such a line
		name = runtime.GOARCH + " processor"
	}
	return name, least(systemMemory(root, "MemTotal"), cgroupLimit(root), resourceLimit())
}

// systemMemory returns the bytes in a line of /proc/meminfo, 0 if there is no such line.
func systemMemory(root fs.FS, key string) int64 {
	kib, _ := strconv.ParseInt(strings.TrimSuffix(field(root, "proc/meminfo", key), " kB"), 10, 64)
	return kib << 10
}

// field returns the value of the first line "key: value" in a file, or "".
func field(root fs.FS, path, key string) string {
	f, err := root.Open(path)
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

// cgroupLimit returns the memory in bytes that control groups of version 1 or 2 allow the process,
// 0 if they do not limit it. A container sees its own group at the root of the file system.
func cgroupLimit(root fs.FS) int64 {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	limit := int64(0)
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, group
		if len(parts) != 3 {
			continue
		}
		group := path.Clean("/" + parts[2]) // begins with "/.." if the container cannot see the groups above its own
		switch {
		case parts[0] == "0" && parts[1] == "":
			for _, mount := range []string{"sys/fs/cgroup", "sys/fs/cgroup/unified"} {
				limit = least(limit, groupLimit(root, path.Join(mount, group), "memory.max"))
			}
		case strings.Contains(","+parts[1]+",", ",memory,"):
			limit = least(limit, groupLimit(root, path.Join("sys/fs/cgroup/memory", group), "memory.limit_in_bytes"))
		}
	}
	return limit
}

// groupLimit returns the lowest limit in the files of a group and of the groups above it, 0 if
// there is none.
func groupLimit(root fs.FS, group, file string) int64 {
	limit := int64(0)
	for ; strings.HasPrefix(group, "sys/fs/cgroup"); group = path.Dir(group) {
		text, err := fs.ReadFile(root, path.Join(group, file))
		if err != nil {
			continue // a group that the container cannot see, or the root, which has no limit
		}
		n, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // 0 for "max"
		limit = least(limit, n)
	}
	return limit
}
