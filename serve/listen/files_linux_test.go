package listen

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
)

// tableSize returns the size of the process's table of files.
func tableSize(t *testing.T) (n int) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "FDSize:")
	if _, err := fmt.Sscan(rest, &n); err != nil || !ok {
		t.Skipf("SKIP: the system does not tell the size of the table of files: %v", err)
	}
	return n
}

// A server has room for the files of all its connections from the start on, and no further file is open.
func TestReserve(t *testing.T) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	want := int(min(20000, limit.Cur))
	address, stop := start(t, func(http.ResponseWriter, *http.Request) {}, Options{Connections: 20000})
	if err := ask(dial(t, address)); err == nil {
		t.Error("an answer without a text")
	}
	if n := tableSize(t); n < want {
		t.Errorf("the table of files has %d places, want %d", n, want)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	files := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	before := files()
	reserve(l, 30000)
	reserve(struct{ net.Listener }{l}, 100)
	if after := files(); after != before {
		t.Errorf("%d files before, %d after", before, after)
	}
}
