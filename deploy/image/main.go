// Command image writes an OCI image of gopherwarp to a file, without Docker. It builds gopherwarp and adds the parts of
// glibc that are needed to load the NVIDIA driver:
//
//	go run ./deploy/image                                 # or make image
//	docker load -i dist/gopherwarp-image.tar              # or podman load, or
//	skopeo copy oci-archive:dist/gopherwarp-image.tar docker://registry.example/gopherwarp:latest
//
// The command downloads glibc once, as Debian's package libc6, and checks the package's SHA-256 hash. The same source
// and the same version of Go produce the same image, to the last bit. With -arch=amd64,arm64, the image is for both
// architectures.
package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// options are those of the command.
type options struct {
	out   string
	name  string
	archs []string
	cache string // folder with packages of Debian
}

func main() {
	o := options{archs: []string{"amd64"}}
	flag.StringVar(&o.out, "o", "dist/gopherwarp-image.tar", "the file to write")
	flag.StringVar(&o.name, "name", "gopherwarp:latest", "name and tag of the image")
	flag.StringVar(&o.cache, "cache", "", "folder that contains libc6 packages, or gets them (default gopherwarp/image in the user's cache folder)")
	flag.Func("arch", "architectures: amd64, arm64 or both, with a comma (default amd64)", func(text string) error {
		o.archs = strings.Split(text, ",")
		return nil
	})
	flag.Parse()
	if err := run(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// run builds the programs, and writes the image.
func run(ctx context.Context, o options) error {
	if repository, tag, ok := strings.Cut(o.name, ":"); !ok || repository == "" || tag == "" {
		return fmt.Errorf("-name=%s: want a name and a tag, such as gopherwarp:latest", o.name)
	}
	if o.cache == "" {
		folder, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		o.cache = filepath.Join(folder, "gopherwarp", "image")
	}
	a := newArchive(o.name)
	for _, arch := range o.archs {
		s, err := systemOf(arch)
		if err != nil {
			return err
		}
		libc, err := s.fetch(ctx, o.cache)
		if err != nil {
			return err
		}
		program, err := build(ctx, arch)
		if err != nil {
			return err
		}
		if err := a.add(s, libc, program); err != nil {
			return err
		}
	}
	digest, err := a.writeFile(o.out)
	if err != nil {
		return err
	}
	info, err := os.Stat(o.out)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %s for linux/%s, %.1f MB, %s\n", o.out, o.name, strings.Join(o.archs, ", linux/"), float64(info.Size())/1e6, digest)
	return nil
}

// build returns the program for an architecture.
func build(ctx context.Context, arch string) ([]byte, error) {
	folder, err := os.MkdirTemp("", "image")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	name := filepath.Join(folder, "gopherwarp")
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", name, "github.com/gopherwarp/gopherwarp/cmd/gopherwarp")
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
	c.Stderr = os.Stderr
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("go build for linux/%s: %w", arch, err)
	}
	return os.ReadFile(name)
}

// revision returns the commit that a program was built from, or "" if the program does not contain it.
func revision(program []byte) string {
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return ""
	}
	commit := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value + commit
		case s.Key == "vcs.modified" && s.Value == "true":
			commit += "-modified"
		}
	}
	return commit
}
