package driver

import (
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/gopherwarp/gopherwarp/internal/origin"
)

// cached is part of the names of folders in Go's module cache, such as
// mod/example.com/vectors@v1.2.3, whose contents do not change.
const cached = "@v"

// current returns an error if the source of the kernel has changed since its code was generated. It
// looks for the source where the compiler found it, once, before the kernel's first launch. It
// returns nil if the source is not there, as on another machine, or if the program was built with
// -trimpath.
func (k *Kernel) current() error {
	if k.Sources == "" || atomic.LoadUint32(&k.known) != 0 {
		return nil
	}
	if generated := k.generated(); filepath.IsAbs(generated) && !strings.Contains(generated, cached) {
		dir := filepath.Dir(generated)
		if d, changed := origin.Changed(dir, k.madeOf(), origin.Built()); changed {
			return fmt.Errorf("device: %s: %w: %s in %s has changed since code was generated from it; run go generate in %s",
				k.Name, ErrStale, d.Name, filepath.Join(dir, filepath.FromSlash(d.File)), dir)
		}
	}
	atomic.StoreUint32(&k.known, 1)
	return nil
}

// generated returns the name of the file that declares the kernel.
func (k *Kernel) generated() string {
	if k.Native == nil {
		return ""
	}
	f := runtime.FuncForPC(reflect.ValueOf(k.Native).Pointer())
	if f == nil {
		return ""
	}
	file, _ := f.FileLine(f.Entry())
	return file
}

// madeOf returns the declarations that the kernel's code was generated from.
func (k *Kernel) madeOf() []origin.Decl {
	all := origin.Parse(k.Sources)
	var list []origin.Decl
	for _, i := range k.Uses {
		if int(i) < len(all) {
			list = append(list, all[i])
		}
	}
	return list
}
