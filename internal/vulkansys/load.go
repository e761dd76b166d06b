package vulkansys

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/dl"
)

// Driver is the loader with its functions.
type Driver struct {
	functions [functions]uintptr
}

// Load opens the system's Vulkan loader. An error matches dl.ErrNotFound if there is none.
func Load() (*Driver, error) {
	lib, err := dl.Open(libraries()...)
	if err != nil {
		return nil, err
	}
	find, err := lib.Symbol("vkGetInstanceProcAddr")
	if err != nil {
		return nil, err
	}
	d := &Driver{}
	for f := range fnEnumeratePhysicalDevices { // those that need no instance
		if err := d.bind(find, 0, f); err != nil {
			return nil, err
		}
	}
	d.functions[fnGetInstanceProcAddr] = find
	return d, nil
}

// libraries returns the names of the loader.
func libraries() []string {
	switch runtime.GOOS {
	case "windows":
		return []string{"vulkan-1.dll"}
	case "darwin":
		return []string{"libvulkan.1.dylib", "libMoltenVK.dylib"}
	}
	return []string{"libvulkan.so.1"}
}

// bind finds a function.
func (d *Driver) bind(find uintptr, instance Instance, f function) error {
	name := append([]byte("vk"+names[f]), 0)
	p := heap(&name[0])
	d.functions[f] = dl.Call(find, uintptr(instance), uintptr(unsafe.Pointer(p)))
	keep(p)
	if d.functions[f] == 0 {
		return fmt.Errorf("vulkansys: vk%s: %w", names[f], dl.ErrSymbol)
	}
	return nil
}

// Complete finds the functions of an instance. Call it once, before any other method that takes the instance or what belongs to it.
func (d *Driver) Complete(i Instance) error {
	for f := fnEnumeratePhysicalDevices; f < functions; f++ {
		if err := d.bind(d.functions[fnGetInstanceProcAddr], i, f); err != nil {
			return err
		}
	}
	return nil
}
