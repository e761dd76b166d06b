package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSurroundings looks at machines that have all, and nothing.
func TestSurroundings(t *testing.T) {
	all := map[string]bool{"/users/x/.nv/ComputeCache": true, "/dev/nvidiactl": true, "/run/nvidia-persistenced/socket": true}
	machine := func(goos string, files map[string]bool, env map[string]string) surroundings {
		return surroundings{
			lanes: map[string]int{"linux": 16}[goos],
			goos:  goos, env: func(name string) string { return env[name] }, home: "/users/x",
			exists: func(path string) bool { return files[filepath.ToSlash(path)] },
			size:   func(string) (int64, error) { return 3 << 19, nil },
			look: func(program string) (string, error) {
				if files[program] {
					return "/usr/bin/" + program, nil
				}
				return "", errors.New("not found")
			},
		}
	}
	for name, c := range map[string]struct {
		machine surroundings
		want    []string
	}{
		"all": {machine("linux", all, nil), []string{
			"ok     the driver caches compiled kernels in /users/x/.nv/ComputeCache, 1.5 MiB", "ok     nvidia-persistenced is running",
			"-      NVIDIA's container toolkit is not installed",
		}},
		"nothing": {machine("linux", nil, nil), []string{
			"-      the driver has not compiled any kernels for this user yet; it will cache them in /users/x/.nv/ComputeCache",
			"-      NVIDIA's container toolkit is not installed",
		}},
		"a host of containers": {machine("linux", map[string]bool{"nvidia-container-cli": true, "/dev/nvidiactl": true, "/c": true}, map[string]string{"CUDA_CACHE_PATH": "/c"}), []string{
			"ok     the driver caches compiled kernels in /c", "-      nvidia-persistenced is not running",
			"ok     NVIDIA's container toolkit is installed (/usr/bin/nvidia-container-cli)",
		}},
		"variables": {machine("windows", nil, map[string]string{"CUDA_VISIBLE_DEVICES": "MIG-1", "CUDA_CACHE_DISABLE": "1"}), []string{
			"-      CUDA_VISIBLE_DEVICES=MIG-1", "-      CUDA_CACHE_DISABLE=1",
		}},
		"Windows": {machine("windows", nil, map[string]string{"APPDATA": "/a"}), []string{"it will cache them in " + filepath.Join("/a", "NVIDIA", "ComputeCache")}},
	} {
		var w strings.Builder
		c.machine.print(&w)
		lines := strings.Split(strings.TrimSpace(w.String()), "\n")
		wants := append(c.want, map[string]string{"linux": "-      CPU: vector code runs 16 threads at once", "windows": "-      CPU: kernels run as plain Go"}[c.machine.goos])
		if len(lines) != len(wants) {
			t.Errorf("%s: %d lines, want %d:\n%s", name, len(lines), len(wants), &w)
			continue
		}
		for i, want := range wants {
			if !strings.Contains(lines[i], want) {
				t.Errorf("%s: line %d is %q, want %q", name, i, lines[i], want)
			}
		}
	}
}

func TestFolderSize(t *testing.T) {
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "a", "b", "c"), make([]byte, 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := folderSize(folder); n != 1000 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}
