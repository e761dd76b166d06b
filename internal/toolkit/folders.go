package toolkit

import (
	"path/filepath"
	"slices"
	"strings"
)

// A searchPath is a list of patterns of folders that may contain a library, and a short text for
// errors.
type searchPath struct {
	said     string
	patterns []string
}

// plainPaths returns a searchPath for each folder.
func plainPaths(folders ...string) (places []searchPath) {
	for _, f := range folders {
		places = append(places, searchPath{f, []string{f}})
	}
	return places
}

// places returns the places where l may be, the best first and without duplicates.
func (m machine) places(l Library) (once []searchPath) {
	for _, p := range slices.Concat(plainPaths(m.toolkits()...), m.environments(l)) {
		if !slices.ContainsFunc(once, func(o searchPath) bool { return o.said == p.said }) {
			once = append(once, p)
		}
	}
	return once
}

// toolkits returns the library folders of CUDA toolkits.
func (m machine) toolkits() (folders []string) {
	for _, variable := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if home := m.getenv(variable); home != "" {
			folders = append(folders, m.libraries(home)...)
		}
	}
	if m.os == "windows" {
		return append(folders,
			filepath.Join(m.programs(), `NVIDIA GPU Computing Toolkit\CUDA\v*\bin`),
			filepath.Join(m.programs(), `NVIDIA GPU Computing Toolkit\CUDA\v*\bin\x64`))
	}
	return append(folders,
		"/usr/local/cuda/lib64", "/usr/local/cuda/targets/*-linux/lib", "/usr/local/cuda-*/lib64", "/opt/cuda/lib64")
}

func (m machine) programs() string {
	if p := m.getenv("ProgramFiles"); p != "" {
		return p
	}
	return `C:\Program Files`
}

// libraries returns the library folders of a toolkit.
func (m machine) libraries(home string) []string {
	if m.os == "windows" {
		return []string{filepath.Join(home, "bin", "x64"), filepath.Join(home, "bin")}
	}
	return []string{filepath.Join(home, "lib64"), filepath.Join(home, "lib")}
}

// environments returns the folders of Python wheels: those of the active environment, of the first
// Python in PATH, of the user and of the system.
func (m machine) environments(l Library) (places []searchPath) {
	if len(l.Wheels) == 0 {
		return nil // part of the driver
	}
	add := func(prefix string) { places = append(places, m.wheels(prefix, l)) }
	for _, variable := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if prefix := m.getenv(variable); prefix != "" {
			add(prefix)
		}
	}
	if conda := m.getenv("CONDA_PREFIX"); conda != "" {
		places = append(places, plainPaths(filepath.Join(conda, "lib"))...)
	}
	for _, prefix := range m.pythons() {
		add(prefix)
	}
	if m.os == "windows" {
		return places
	}
	if home := m.getenv("HOME"); home != "" {
		add(filepath.Join(home, ".local"))
	}
	add("/usr/local")
	add("/usr")
	return places
}

// pythons returns the prefixes of the first Python in PATH, both of its name and of the file to
// which the name links.
func (m machine) pythons() (prefixes []string) {
	for _, dir := range filepath.SplitList(m.getenv("PATH")) {
		for _, name := range []string{"python3", "python", "python.exe"} {
			real := m.real(filepath.Join(dir, name))
			if real == "" {
				continue
			}
			switch {
			case m.os == "windows":
				return []string{dir}
			case filepath.Base(dir) == "shims": // of pyenv, which selects one of its versions
				return []string{filepath.Join(filepath.Dir(dir), "versions", "*")}
			}
			return []string{filepath.Dir(dir), filepath.Dir(filepath.Dir(real))}
		}
	}
	return nil
}

// wheels returns the folders below a Python prefix in which wheels install l.
func (m machine) wheels(prefix string, l Library) searchPath {
	sites, leaves := []string{"lib/python3*/site-packages", "lib/python3*/dist-packages", "lib/python3/dist-packages"}, []string{"lib"}
	said := "lib/python3*/{site,dist}-packages/nvidia/{" + strings.Join(l.Wheels, ",") + "}/lib"
	if m.os == "windows" {
		sites, leaves = []string{`Lib\site-packages`}, []string{`bin\x86_64`, "bin"}
		said = `Lib\site-packages\nvidia\{` + strings.Join(l.Wheels, ",") + `}\bin`
	}
	p := searchPath{said: filepath.Join(prefix, said)}
	for _, site := range sites {
		for _, wheel := range l.Wheels {
			for _, leaf := range leaves {
				p.patterns = append(p.patterns, filepath.Join(prefix, site, "nvidia", wheel, leaf))
			}
		}
	}
	return p
}
