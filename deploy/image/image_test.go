package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ulikunitz/xz"
)

// packed returns a compressed tar file.
func packed(t *testing.T, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	x, err := xz.WriterConfig{DictCap: 64 << 10}.NewWriter(&b) // readers allocate it
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(x)
	for _, f := range files {
		h := &tar.Header{Name: "./" + f.name, Mode: f.mode, Size: int64(len(f.body)), Linkname: f.link, Typeflag: tar.TypeReg}
		if f.link != "" {
			h.Typeflag = tar.TypeSymlink
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(f.body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// debOf returns a package of Debian.
func debOf(control, data []byte) []byte {
	b := bytes.NewBufferString("!<arch>\n")
	for _, m := range []struct {
		name string
		body []byte
	}{{"debian-binary", []byte("2.0\n")}, {"control.tar.xz", control}, {"data.tar.xz", data}} {
		fmt.Fprintf(b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n%s", m.name, 0, 0, 0, "100644", len(m.body), m.body)
		if len(m.body)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

// libcOf returns a package that has the names of the files of libc6.
func libcOf(t *testing.T, s system) []byte {
	t.Helper()
	lib := path.Join("lib", s.triplet)
	files := []file{
		{name: s.loader, link: "/" + path.Join(lib, path.Base(s.loader))},
		{name: path.Join("etc/ld.so.conf.d", s.triplet+".conf"), mode: 0o644, body: []byte("/" + lib)},
		{name: "usr/share/doc/libc6/copyright", mode: 0o644, body: []byte("LGPL")},
		{name: "usr/share/doc/libc6/changelog", mode: 0o644, body: []byte("not wanted")},
	}
	for _, name := range []string{path.Base(s.loader), "libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0", "librt.so.1", "libnsl.so.1"} {
		files = append(files, file{name: path.Join(lib, name), mode: 0o755, body: []byte(name)})
	}
	return debOf(packed(t, file{name: "control", mode: 0o644, body: []byte("Package: libc6\n")}), packed(t, files...))
}

// archiveOf returns the bytes of an archive for some architectures.
func archiveOf(t *testing.T, archs ...string) (data []byte, digest string) {
	t.Helper()
	a := newArchive("gopherwarp:1.0")
	for _, arch := range archs {
		s, err := systemOf(arch)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.add(s, libcOf(t, s), []byte("the program for "+arch)); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(t.TempDir(), "dist", "image.tar")
	digest, err := a.writeFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if data, err = os.ReadFile(name); err != nil {
		t.Fatal(err)
	}
	if list, err := os.ReadDir(filepath.Dir(name)); err != nil || len(list) != 1 {
		t.Errorf("the folder has %v, %v", list, err)
	}
	return data, digest
}

// entries returns the entries of a tar file.
func entries(t *testing.T, r io.Reader) map[string]file {
	t.Helper()
	list := map[string]file{}
	for in := tar.NewReader(r); ; {
		h, err := in.Next()
		if err == io.EOF {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(h.Name, "/")
		if _, twice := list[name]; twice || name != path.Clean(name) || path.IsAbs(name) || h.ModTime.Unix() != 0 || h.Uid != 0 {
			t.Errorf("the entry %+v", h)
		}
		if dir := path.Dir(name); dir != "." && !strings.HasPrefix(name, "blobs/") && !list[dir].folder {
			t.Errorf("%s comes before its folder", name)
		}
		body, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		list[name] = file{name: name, mode: h.Mode, body: body, link: h.Linkname, folder: h.Typeflag == tar.TypeDir}
	}
}

// layout is an archive that has been read.
type layout map[string]file

// blob returns the blob of a descriptor, whose fields it checks.
func (l layout) blob(t *testing.T, d descriptor, mediaType string) []byte {
	t.Helper()
	f, ok := l[blobName(d.Digest)]
	if sum := fmt.Sprintf("sha256:%x", sha256.Sum256(f.body)); !ok || d.MediaType != mediaType || d.Digest != sum || d.Size != len(f.body) {
		t.Fatalf("%+v: %d bytes with the digest %s, want the type %s", d, len(f.body), sum, mediaType)
	}
	return f.body
}

// parse reads a document.
func parse[T any](t *testing.T, data []byte) (v T) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return v
}

// checkImage checks an image of a layout, and returns the files of all layers.
func (l layout) checkImage(t *testing.T, d descriptor) map[string]file {
	t.Helper()
	m := parse[manifest](t, l.blob(t, d, typeManifest))
	c := parse[imageConfig](t, l.blob(t, m.Config, typeConfig))
	if m.SchemaVersion != 2 || m.MediaType != typeManifest || *d.Platform != c.platform || c.OS != "linux" || c.RootFS.Type != "layers" {
		t.Errorf("the manifest is %+v, the platforms are %+v and %+v", m, d.Platform, c.platform)
	}
	if len(m.Layers) != 2 || len(c.RootFS.DiffIDs) != 2 || len(c.History) != 2 {
		t.Fatalf("%d layers, %d hashes, %d steps", len(m.Layers), len(c.RootFS.DiffIDs), len(c.History))
	}
	all := map[string]file{}
	for i, at := range m.Layers {
		z, err := gzip.NewReader(bytes.NewReader(l.blob(t, at, typeLayer)))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		if got := digestOf(plain); got != c.RootFS.DiffIDs[i] {
			t.Errorf("layer %d has the hash %s, want %s", i, got, c.RootFS.DiffIDs[i])
		}
		maps.Copy(all, entries(t, bytes.NewReader(plain)))
	}
	if f := all[c.Config.Entrypoint[0][1:]]; f.mode != 0o755 || string(f.body) != "the program for "+c.Architecture {
		t.Errorf("the program is %+v", f)
	}
	if user := c.Config.User; user != "65532:65532" || !strings.Contains(string(all["etc/passwd"].body), ":"+user+":") {
		t.Errorf("the user is %s", user)
	}
	return all
}

// TestImage reads an image, and compares it with the specification and with the files that it was made of.
func TestImage(t *testing.T) {
	data, digest := archiveOf(t, "amd64")
	if again, _ := archiveOf(t, "amd64"); !bytes.Equal(again, data) {
		t.Error("the same input results in another image")
	}
	l := layout(entries(t, bytes.NewReader(data)))
	x := parse[index](t, l["index.json"].body)
	if string(l["oci-layout"].body) != `{"imageLayoutVersion":"1.0.0"}` || x.SchemaVersion != 2 || len(x.Manifests) != 1 || x.Manifests[0].Digest != digest {
		t.Fatalf("the index is %+v", x)
	}
	if a := x.Manifests[0].Annotations; a["org.opencontainers.image.ref.name"] != "1.0" || a["io.containerd.image.name"] != "docker.io/library/gopherwarp:1.0" {
		t.Errorf("the annotations are %v", a)
	}
	files := l.checkImage(t, x.Manifests[0])
	var names []string
	for name, f := range files {
		if !f.folder {
			names = append(names, name)
		}
		if f.link != "" && files[f.link[1:]].body == nil {
			t.Errorf("%s points to %s", name, f.link)
		}
	}
	slices.Sort(names)
	want := `etc/debian_version etc/group etc/ld.so.conf etc/ld.so.conf.d/x86_64-linux-gnu.conf etc/nsswitch.conf etc/os-release etc/passwd
		lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 lib/x86_64-linux-gnu/libc.so.6 lib/x86_64-linux-gnu/libdl.so.2 lib/x86_64-linux-gnu/libm.so.6
		lib/x86_64-linux-gnu/libpthread.so.0 lib/x86_64-linux-gnu/librt.so.1 lib64/ld-linux-x86-64.so.2 usr/bin/gopherwarp usr/share/doc/libc6/copyright
		var/lib/dpkg/status.d/libc6`
	if !slices.Equal(names, strings.Fields(want)) || !files["tmp"].folder || files["tmp"].mode != 0o1777 {
		t.Errorf("the files are %v, /tmp is %+v", names, files["tmp"])
	}
	d := parse[[]dockerImage](t, l["manifest.json"].body)
	if len(d) != 1 || d[0].RepoTags[0] != "gopherwarp:1.0" || l[d[0].Config].body == nil || l[d[0].Layers[0]].body == nil || l[d[0].Layers[1]].body == nil {
		t.Errorf("for Docker: %+v", d)
	}
}

// TestPlatforms reads an image for two architectures.
func TestPlatforms(t *testing.T) {
	data, digest := archiveOf(t, "amd64", "arm64")
	l := layout(entries(t, bytes.NewReader(data)))
	top := parse[index](t, l["index.json"].body)
	if len(top.Manifests) != 1 || top.Manifests[0].Digest != digest {
		t.Fatalf("the index is %+v", top)
	}
	x := parse[index](t, l.blob(t, top.Manifests[0], typeIndex))
	if len(x.Manifests) != 2 || x.Manifests[1].Platform.Architecture != "arm64" || x.MediaType != typeIndex {
		t.Fatalf("the images are %+v", x)
	}
	for _, d := range x.Manifests {
		l.checkImage(t, d)
	}
	if d := parse[[]dockerImage](t, l["manifest.json"].body); len(d) != 1 {
		t.Errorf("Docker sees %d images", len(d))
	}
}

// TestPackages reads packages that are not libc6.
func TestPackages(t *testing.T) {
	s, err := systemOf("amd64")
	if err != nil {
		t.Fatal(err)
	}
	whole := libcOf(t, s)
	control := packed(t, file{name: "control", body: []byte("x")})
	for name, deb := range map[string][]byte{
		"empty": nil, "no package": []byte("PK\x03\x04"), "no members": []byte("!<arch>\n"), "cut short": whole[:len(whole)/2],
		"no libraries": debOf(control, packed(t)), "not compressed": debOf(control, []byte("plain")), "no control": debOf(packed(t), packed(t)),
	} {
		if _, err := s.files(deb); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for i := range whole { // a panic would end the test
		deb := bytes.Clone(whole)
		deb[i] ^= 0x5a
		_, _ = s.files(deb[:max(i, len(deb)-i)])
	}
	if _, err := systemOf("riscv64"); err == nil {
		t.Error("an architecture without a package: no error")
	}
}

// TestCache takes a package from the folder, but not one with another hash.
func TestCache(t *testing.T) {
	s, err := systemOf("amd64")
	if err != nil {
		t.Fatal(err)
	}
	folder, deb := t.TempDir(), libcOf(t, s)
	if err := os.WriteFile(filepath.Join(folder, s.file()), deb, 0o644); err != nil {
		t.Fatal(err)
	}
	offline, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.fetch(offline, folder); err == nil || !strings.Contains(err.Error(), folder) {
		t.Errorf("a package with another hash: %v", err)
	}
	s.sha256 = fmt.Sprintf("%x", sha256.Sum256(deb))
	if got, err := s.fetch(offline, folder); err != nil || !bytes.Equal(got, deb) {
		t.Errorf("the package in the folder: %d bytes, %v", len(got), err)
	}
}

// TestDownload downloads a file that is there, and one that is not.
func TestDownload(t *testing.T) {
	s := httptest.NewServer(http.FileServerFS(fstest.MapFS{"libc6.deb": {Data: []byte("a package")}}))
	defer s.Close()
	if got, err := download(t.Context(), s.URL+"/libc6.deb"); err != nil || string(got) != "a package" {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := download(t.Context(), s.URL+"/other.deb"); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("a package that is not there: %q, %v", got, err)
	}
}

// TestOptions checks mistakes in options, for which nothing is built.
func TestOptions(t *testing.T) {
	out := filepath.Join(t.TempDir(), "image.tar")
	for _, o := range []options{{name: "gopherwarp", archs: []string{"amd64"}}, {name: "gopherwarp:latest", archs: []string{"386"}}} {
		o.out, o.cache = out, t.TempDir()
		if err := run(t.Context(), o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("an image was written")
	}
}
