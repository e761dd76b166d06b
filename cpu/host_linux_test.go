package cpu

import (
	"strings"
	"testing"
)

func TestParseField(t *testing.T) {
	const text = "processor\t: 0\nmodel name\t: Fast: One\nmodel name\t: Two\nMemTotal:    16 kB\n"
	for key, want := range map[string]string{"model name": "Fast: One", "MemTotal": "16 kB", "nothing": ""} {
		if got := parseField(strings.NewReader(text), key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if got := field("/proc/no such file", "x"); got != "" {
		t.Errorf("a file that is not there has %q", got)
	}
}

func TestHost(t *testing.T) {
	name, memory := host()
	if name == "" || memory < 64<<20 {
		t.Errorf("the host is %q with %d bytes", name, memory)
	}
}
