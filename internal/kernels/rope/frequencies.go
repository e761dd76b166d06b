package rope

import "math"

// Scaling stretches the wavelengths of a model that was trained on sequences of Context tokens, as Llama 3.1 defines it: by Factor
// those longer than Context/Low, not at all those shorter than Context/High, and by something between the others.
type Scaling struct {
	Factor, Low, High float64
	Context           int
}

// Frequencies returns the angle per position of each pair: base to the power of -2i/rotary for pair i of rotary/2, scaled if
// scaling is not nil. It computes in float64.
func Frequencies(rotary int, base float64, scaling *Scaling) []float32 {
	list := make([]float32, rotary/2)
	for i := range list {
		f := math.Pow(base, -2*float64(i)/float64(rotary))
		if scaling != nil {
			f *= scaling.factor(2 * math.Pi / f)
		}
		list[i] = float32(f)
	}
	return list
}

// factor returns the factor of a frequency, given its wavelength in tokens.
func (s *Scaling) factor(wavelength float64) float64 {
	share := (float64(s.Context)/wavelength - s.Low) / (s.High - s.Low) // 0 for the longest, 1 for the shortest
	share = min(max(share, 0), 1)
	return share + (1-share)/s.Factor
}
