package checksum_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/checksum"
)

// The SHA-256 of "abc" in FIPS 180-4's examples, and one of another text.
const (
	abc   = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	other = "0000000000000000000000000000000000000000000000000000000000000000"
)

// write writes the files of a folder, and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		name = filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// verify opens and verifies a file.
func verify(t *testing.T, name string) error {
	t.Helper()
	s, err := weights.OpenSource(name)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	return checksum.Verify(s, nil)
}

// TestVerify verifies files whose sums are recorded in all ways, right and wrong.
func TestVerify(t *testing.T) {
	const download = ".cache/huggingface/download/"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  error
	}{
		{"m", map[string]string{"m": "abc"}, checksum.ErrUnknown},
		{"blobs/" + abc, map[string]string{"blobs/" + abc: "abc"}, nil},
		{"blobs/" + abc, map[string]string{"blobs/" + abc: "abd"}, checksum.ErrDiffers},
		{"blobs/sha256-" + abc, map[string]string{"blobs/sha256-" + abc: "abc"}, nil},
		{"blobs/" + abc[:40], map[string]string{"blobs/" + abc[:40]: "abc"}, checksum.ErrUnknown}, // of git
		{abc, map[string]string{abc: "abc"}, checksum.ErrUnknown},
		{"m", map[string]string{"m": "abc", download + "m.metadata": "commit\n" + abc + "\n1764370000.5\n"}, nil},
		{"m", map[string]string{"m": "abc", download + "m.metadata": "commit\n" + other + "\n1764370000.5\n"}, checksum.ErrDiffers},
		{"m", map[string]string{"m": "abc", download + "m.metadata": "commit\n" + abc[:40] + "\n1764370000.5\n"}, checksum.ErrUnknown},
		{"m", map[string]string{"m": "abc", download + "m.metadata": ""}, checksum.ErrUnknown},
		{"part/m", map[string]string{"part/m": "abc", download + "part/m.metadata": "commit\n" + abc + "\n"}, nil},
		{"m", map[string]string{"m": "abc", "SHA256SUMS": other + "  n\n" + abc + " *m\n"}, nil},
		{"m", map[string]string{"m": "abc", "SHA256SUMS": abc + "  n\n" + other + "  ./m\r\n"}, checksum.ErrDiffers},
		{"m", map[string]string{"m": "abc", "SHA256SUMS": abc + "  n\n"}, checksum.ErrUnknown},
		{"m", map[string]string{"m": "abc", "m.sha256": abc + "\n"}, nil},
		{"m", map[string]string{"m": "", "m.sha256": abc + "  folder/m"}, checksum.ErrDiffers},
	} {
		if err := verify(t, filepath.Join(write(t, c.files), c.name)); !errors.Is(err, c.want) {
			t.Errorf("%v: %v, want %v", c.files, err, c.want)
		}
	}
}

// TestLink verifies a symbolic link to a blob.
func TestLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows needs a privilege for symbolic links")
	}
	folder := write(t, map[string]string{"blobs/" + abc: "abc"})
	link := filepath.Join(folder, "model.safetensors")
	if err := os.Symlink(filepath.Join("blobs", abc), link); err != nil {
		t.Fatal(err)
	}
	if err := verify(t, link); err != nil {
		t.Error(err)
	}
}

// TestSum sums a file of several parts, and one that is truncated meanwhile.
func TestSum(t *testing.T) {
	name := filepath.Join(write(t, nil), "zeros")
	if err := os.WriteFile(name, make([]byte, 5<<19), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := weights.OpenSource(name)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var done []int64
	sum, err := checksum.Sum(s, func(n int64) error { done = append(done, n); return nil })
	if want := "6de7493c5c90f643357c268fbaaf461c1567e0334e4948023ce17268403aa37a"; err != nil || sum != want || len(done) != 3 || done[2] != 5<<19 {
		t.Errorf("%s, want %s; %v, %v", sum, want, done, err)
	}
	stop := errors.New("stop")
	if _, err := checksum.Sum(s, func(int64) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("after an interrupt: %v", err)
	}
	if err := os.Truncate(name, 1<<20); err != nil {
		t.Fatal(err)
	}
	if _, err := checksum.Sum(s, nil); !errors.Is(err, weights.ErrTruncated) {
		t.Errorf("of a truncated file: %v", err)
	}
}
