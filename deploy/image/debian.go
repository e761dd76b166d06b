package main

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ulikunitz/xz"
)

// system is an architecture, and its glibc: a version of Debian's package libc6.
type system struct {
	arch         string
	triplet      string // of the folders of libraries
	loader       string // the file that starts programs, which is a symbolic link
	sha256, sha1 string // of the package
}

// release is the version of Debian that the packages are of, and libcVersion is their version.
const (
	release     = "12"
	libcVersion = "2.36-9+deb12u14"
)

// systemOf returns the system of an architecture.
func systemOf(arch string) (system, error) {
	switch arch {
	case "amd64":
		return system{
			arch: arch, triplet: "x86_64-linux-gnu", loader: "lib64/ld-linux-x86-64.so.2",
			sha256: "ba4f88f73dbc3ae9055f3c20f4523bfdbaf1ad13ff95e258924f77d20b4fbedf", sha1: "c534c6c7f912b61ca26b7cf4082235a0343b8751",
		}, nil
	case "arm64":
		return system{
			arch: arch, triplet: "aarch64-linux-gnu", loader: "lib/ld-linux-aarch64.so.1",
			sha256: "01f4330719fd4f65580e16ea5a0527f372fca750e8f588d26deaf09f2d3b1cf4", sha1: "85af57bf1f9fa075163e51c99d9536154c21ab7e",
		}, nil
	}
	return system{}, fmt.Errorf("no architecture %q: want amd64 or arm64", arch)
}

// sources returns the addresses of the package. Debian's mirrors remove packages when newer ones replace them; the archive of snapshots
// keeps all packages.
func (s system) sources() []string {
	return []string{
		"https://deb.debian.org/debian/pool/main/g/glibc/" + s.file(),
		"https://snapshot.debian.org/file/" + s.sha1,
	}
}

// file returns the file name of the package.
func (s system) file() string { return fmt.Sprintf("libc6_%s_%s.deb", libcVersion, s.arch) }

// fetch returns the package from the folder, or downloads it into the folder.
func (s system) fetch(ctx context.Context, folder string) ([]byte, error) {
	name := filepath.Join(folder, s.file())
	if data, err := os.ReadFile(name); err == nil && s.check(data) == nil {
		return data, nil
	}
	var all error
	for _, url := range s.sources() {
		data, err := download(ctx, url)
		if err == nil {
			err = s.check(data)
		}
		if err != nil {
			all = errors.Join(all, fmt.Errorf("%s: %w", url, err))
			continue
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return nil, err
		}
		return data, os.WriteFile(name, data, 0o644)
	}
	return nil, fmt.Errorf("%w\nput the package into the folder %s", all, folder)
}

// check compares the hash of the package with the known one.
func (s system) check(data []byte) error {
	if got := fmt.Sprintf("%x", sha256.Sum256(data)); got != s.sha256 {
		return fmt.Errorf("%s has the SHA-256 hash %s, want %s", s.file(), got, s.sha256)
	}
	return nil
}

// largestPackage limits what is downloaded, and the size of the unpacked parts.
const largestPackage = 64 << 20

// download returns a file from the network.
func download(ctx context.Context, url string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %s", answer.Status)
	}
	return io.ReadAll(io.LimitReader(answer.Body, largestPackage))
}

// files returns the files of the package that programs need: those that libcuda.so.1 and NVML link to. It adds the record of the
// package in var/lib/dpkg, from which scanners for known vulnerabilities learn the version of glibc.
func (s system) files(libc []byte) ([]file, error) {
	control, err := member(libc, "control.tar.xz", func(name string) bool { return name == "control" })
	if err != nil {
		return nil, err
	}
	lib := func(name string) string { return path.Join("lib", s.triplet, name) }
	wanted := []string{
		lib(path.Base(s.loader)), lib("libc.so.6"), lib("libdl.so.2"), lib("libm.so.6"), lib("libpthread.so.0"), lib("librt.so.1"),
		path.Join("etc/ld.so.conf.d", s.triplet+".conf"), s.loader, "usr/share/doc/libc6/copyright",
	}
	data, err := member(libc, "data.tar.xz", func(name string) bool { return slices.Contains(wanted, name) })
	if err != nil {
		return nil, err
	}
	if len(data) != len(wanted) || len(control) != 1 {
		return nil, fmt.Errorf("%s has %d of the %d files", s.file(), len(data), len(wanted))
	}
	control[0].name = "var/lib/dpkg/status.d/libc6"
	return append(data, control[0]), nil
}

// member returns files of a compressed tar file in a package. A package is a file in the format of ar.
func member(deb []byte, name string, want func(name string) bool) (list []file, err error) {
	const magic, header = "!<arch>\n", 60
	rest, ok := bytes.CutPrefix(deb, []byte(magic))
	for ok && len(rest) >= header {
		of := strings.TrimRight(string(rest[:16]), " /")
		size, err := strconv.Atoi(strings.TrimSpace(string(rest[48:58])))
		if rest = rest[header:]; err != nil || size < 0 || size > len(rest) {
			break
		}
		if of == name {
			return unpack(rest[:size], want)
		}
		rest = rest[min(size+size%2, len(rest)):]
	}
	return nil, fmt.Errorf("the package has no %s", name)
}

// unpack returns files of a compressed tar file.
func unpack(data []byte, want func(name string) bool) (list []file, err error) {
	x, err := xz.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	for t := tar.NewReader(io.LimitReader(x, largestPackage)); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		f := file{name: path.Clean(h.Name), mode: h.Mode & 0o777, link: h.Linkname}
		if !want(f.name) {
			continue
		}
		if f.body, err = io.ReadAll(t); err != nil {
			return nil, err
		}
		list = append(list, f)
	}
}
