// Package nvml reads what NVIDIA's management library knows of the GPUs of a machine: names,
// load, memory, power, temperatures, clocks, links, errors, and which processes use them. It is
// what nvidia-smi reads, and sees all GPUs whatever CUDA_VISIBLE_DEVICES says.
//
//	lib, err := nvml.Open()
//	if err != nil { return err } // where it looked, and how to get it
//	defer lib.Close()
//	gpus, err := lib.Devices()
//	for _, d := range gpus {
//		r, err := d.Read()
//		if watts, ok := r.Power.Get(); ok { fmt.Println(d.Name(), watts) }
//	}
//
// It needs no context on a GPU and makes none: reading does not disturb what runs there. It
// changes nothing, and it is not package cuda, whose numbers for the devices may be others:
// match them by bus or UUID. All methods may be called from any goroutine.
package nvml
