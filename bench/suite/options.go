package suite

import (
	"math"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// market holds for all options what a safe investment yields and how much the price varies.
type market struct{ rate, volatility float32 }

// blackScholes stores the fair prices of options to buy (call) and to sell (put) at the price
// strike after the given years, by the formula of Black and Scholes (1973), in float32. Its
// functions are accurate, like CUDA's in the twins.
//
//gpu:kernel
func blackScholes(t gpu.Thread, price, strike, years, call, put []float32, m market) {
	i := t.GlobalX()
	if i >= len(call) {
		return
	}
	call[i], put[i] = prices(price[i], strike[i], years[i], m)
}

// blackScholesBest is like blackScholes with four options a thread.
//
//gpu:kernel
//gpu:block 256
func blackScholesBest(t gpu.Thread, price, strike, years, call, put [][4]float32, m market) {
	i := t.GlobalX()
	if i >= len(call) {
		return
	}
	s, k, y := price[i], strike[i], years[i]
	var c, p [4]float32
	for j := range c {
		c[j], p[j] = prices(s[j], k[j], y[j], m)
	}
	call[i], put[i] = c, p
}

// prices returns the prices of one option, s the price now, k that in y years.
func prices(s, k, y float32, m market) (call, put float32) {
	root := math32.Sqrt(y)
	d1 := (math32.Log(s/k) + (m.rate+0.5*m.volatility*m.volatility)*y) / (m.volatility * root)
	d2 := d1 - m.volatility*root
	n1, n2 := normal(d1), normal(d2)
	discounted := k * math32.Exp(-m.rate*y)
	return s*n1 - discounted*n2, discounted*(1-n2) - s*(1-n1)
}

// normal returns the normal distribution's share below d, with an error of at most 7.5e-8:
// formula 26.2.17 of Abramowitz and Stegun, Handbook of Mathematical Functions.
func normal(d float32) float32 {
	k := 1 / (1 + 0.2316419*math32.Abs(d))
	poly := k * (0.319381530 + k*(-0.356563782+k*(1.781477937+k*(-1.821255978+k*1.330274429))))
	upper := 0.39894228 * math32.Exp(-0.5*d*d) * poly
	if d > 0 {
		return 1 - upper
	}
	return upper
}

// newBlackScholes prepares n options.
func newBlackScholes(b *harness.Bench, n int) harness.Work {
	price, strike := harness.Input(b, harness.Random(b, n, harness.Between(5, 30))), harness.Input(b, harness.Random(b, n, harness.Between(1, 100)))
	years := harness.Input(b, harness.Random(b, n, harness.Between(0.25, 10)))
	call, put := harness.Result(b, n, harness.NaN[float32]()), harness.Result(b, n, harness.NaN[float32]())
	m := market{rate: 0.02, volatility: 0.3}
	run := harness.Of("blackScholes", BlackScholes, device.Cover(n, 256), price, strike, years, call, put, harness.ByValue(m))
	return harness.Work{
		Bytes: float64(20 * n),
		Ours:  []harness.Launch{run},
		Tuned: []harness.Launch{harness.Of("blackScholesBest", BlackScholesBest, device.Cover(n/4, 256),
			harness.As[[4]float32](price), harness.As[[4]float32](strike), harness.As[[4]float32](years), harness.As[[4]float32](call), harness.As[[4]float32](put), harness.ByValue(m))},
		Best: []harness.Launch{run.Best(device.Cover(n/4, 256))},
		Check: func() error {
			want := func(i int) (call, put float64) {
				return fairPrices(float64(price.Host[i]), float64(strike.Host[i]), float64(years.Host[i]), m)
			}
			c := harness.Comparison{Relative: 1e-6, Scale: 100, Most: 1 << 22}
			err := harness.Compare(c, call.Host, func(i int) float64 { c, _ := want(i); return c })
			if err != nil {
				return err
			}
			return harness.Compare(c, put.Host, func(i int) float64 { _, p := want(i); return p })
		},
	}
}

// fairPrices computes in float64 what the kernel does in float32, with math's own normal
// distribution.
func fairPrices(price, strike, years float64, m market) (call, put float64) {
	rate, volatility := float64(m.rate), float64(m.volatility)
	below := func(d float64) float64 { return 0.5 * math.Erfc(-d/math.Sqrt2) }
	d1 := (math.Log(price/strike) + (rate+volatility*volatility/2)*years) / (volatility * math.Sqrt(years))
	d2 := d1 - volatility*math.Sqrt(years)
	discounted := strike * math.Exp(-rate*years)
	return price*below(d1) - discounted*below(d2), discounted*below(-d2) - price*below(-d1)
}
