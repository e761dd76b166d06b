package toolkit

import (
	"path/filepath"
	"slices"
)

// folders returns where l may be, as patterns, the best first and each once.
func (m machine) folders(l Library) []string {
	all := slices.Concat(m.toolkits(), m.environments(l))
	var once []string
	for _, f := range all {
		if !slices.Contains(once, f) {
			once = append(once, f)
		}
	}
	return once
}

// toolkits returns the folders of a CUDA toolkit, in which all of its libraries are.
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

// libraries returns the folders of libraries below the home of a toolkit.
func (m machine) libraries(home string) []string {
	if m.os == "windows" {
		return []string{filepath.Join(home, "bin", "x64"), filepath.Join(home, "bin")}
	}
	return []string{filepath.Join(home, "lib64"), filepath.Join(home, "lib")}
}

// environments returns the folders of wheels: of the environment that is active, that of the
// first Python in the path, the user's own and the system's.
func (m machine) environments(l Library) (folders []string) {
	for _, variable := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if prefix := m.getenv(variable); prefix != "" {
			folders = append(folders, m.wheels(prefix, l)...)
		}
	}
	if conda := m.getenv("CONDA_PREFIX"); conda != "" {
		folders = append(folders, filepath.Join(conda, "lib"))
	}
	for _, prefix := range m.pythons() {
		folders = append(folders, m.wheels(prefix, l)...)
	}
	if home := m.getenv("HOME"); home != "" && m.os != "windows" {
		folders = append(folders, m.wheels(filepath.Join(home, ".local"), l)...)
	}
	if m.os == "windows" {
		return folders
	}
	return slices.Concat(folders, m.wheels("/usr/local", l), m.wheels("/usr", l))
}

// pythons returns the prefixes of the Python that the path finds, as it is named and where it
// really is.
func (m machine) pythons() (prefixes []string) {
	for _, dir := range filepath.SplitList(m.getenv("PATH")) {
		for _, name := range []string{"python3", "python", "python.exe"} {
			real := m.real(filepath.Join(dir, name))
			if real == "" {
				continue
			}
			if m.os == "windows" {
				return []string{dir}
			}
			return []string{filepath.Dir(dir), filepath.Dir(filepath.Dir(real))}
		}
	}
	return nil
}

// wheels returns the folders below a prefix of Python into which wheels put l.
func (m machine) wheels(prefix string, l Library) (folders []string) {
	sites := []string{"lib/python3*/site-packages", "lib/python3*/dist-packages", "lib/python3/dist-packages"}
	leaves := []string{"lib"}
	if m.os == "windows" {
		sites, leaves = []string{`Lib\site-packages`}, []string{`bin\x86_64`, "bin"}
	}
	for _, site := range sites {
		for _, wheel := range l.Wheels {
			for _, leaf := range leaves {
				folders = append(folders, filepath.Join(prefix, site, "nvidia", wheel, leaf))
			}
		}
	}
	return folders
}
