package inference

import (
	"regexp"
	"strconv"
	"testing"
	"time"
)

// A server whose steps end late reports the delay, because clients measure it.
func TestLatenessMetrics(t *testing.T) {
	t.Parallel()
	const tokens = 20
	late := func(speed float64) (sum, longest float64) {
		c := config(t)
		began := time.Now()
		c.Now = func() time.Time { return began.Add(time.Duration(speed * float64(time.Since(began)))) }
		_, url := serve(t, c)
		post(t, url+"/v1/completions", `{"prompt":"hello","max_tokens":`+strconv.Itoa(tokens)+`}`)
		_, body := get(t, url+"/metrics")
		value := func(name string) float64 {
			found := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindSubmatch(body)
			if found == nil {
				t.Fatalf("metrics lack %s", name)
			}
			v, err := strconv.ParseFloat(string(found[1]), 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		return value("firstlight_simulation_late_seconds_sum"), value("firstlight_simulation_late_seconds_max")
	}
	step := config(t).Figures.TPOTMs / 1000
	// With a clock of 100 times the speed, each step of a few ms ends 99 steps late.
	if sum, longest := late(100); sum < 90*tokens*step || longest < 90*step {
		t.Errorf("late by %g s in all and %g s at most, want at least %g and %g", sum, longest, 90*tokens*step, 90*step)
	}
	// With a clock that nearly stops, no step is late.
	if sum, longest := late(0.001); sum > step || longest > step {
		t.Errorf("late by %g s in all and %g s at most with a clock that nearly stops", sum, longest)
	}
}
