package inference

import (
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// speedy is the configuration of a server whose clock has the given speed: with a fast one, timers end
// late, as on a busy machine.
func speedy(t *testing.T, speed float64) Config {
	t.Helper()
	c := config(t)
	began := time.Now()
	c.Now = func() time.Time { return began.Add(time.Duration(speed * float64(time.Since(began)))) }
	return c
}

// answered has a server answer one request and returns its metrics.
func answered(t *testing.T, c Config, tokens int) func(name string) float64 {
	t.Helper()
	_, url := serve(t, c)
	post(t, url+"/v1/completions", `{"prompt":"hello","max_tokens":`+strconv.Itoa(tokens)+`}`)
	_, body := get(t, url+"/metrics")
	return func(name string) float64 {
		t.Helper()
		found := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + `(?:{[^}]*})? (\S+)$`).FindSubmatch(body)
		if found == nil {
			t.Fatalf("metrics lack %s", name)
		}
		v, err := strconv.ParseFloat(string(found[1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// A server whose steps end late reports the delay, because clients measure it.
func TestLatenessMetrics(t *testing.T) {
	t.Parallel()
	const tokens = 20
	late := func(speed float64) (sum, longest float64) {
		value := answered(t, speedy(t, speed), tokens)
		return value("firstlight_simulation_late_seconds_sum"), value("firstlight_simulation_late_seconds_max")
	}
	step := config(t).Figures.TPOTMs / 1000
	// With a clock of 100 times the speed, the first step of a few ms ends 99 steps late.
	if sum, longest := late(100); sum < 90*step || longest < 90*step {
		t.Errorf("late by %g s in all and %g s at most, want at least %g", sum, longest, 90*step)
	}
	// With a clock that nearly stops, no step is late.
	if sum, longest := late(0.001); sum > step || longest > step {
		t.Errorf("late by %g s in all and %g s at most with a clock that nearly stops", sum, longest)
	}
}

// Each step began when the previous one was delivered: on a loaded machine the delays became a queue,
// the server's own metrics showed a TTFT of 1.2 s, and gate inference failed. The metrics have the
// times of the simulated GPUs.
func TestMetricsOfALateServerAreThoseOfItsGPUs(t *testing.T) {
	t.Parallel()
	const tokens = 20
	f := config(t).Figures
	value := answered(t, speedy(t, 100), tokens)
	if sum, want := value("vllm:inter_token_latency_seconds_sum"), (tokens-1)*f.TPOTMs/1000; sum < want*0.99 || sum > want*1.01 {
		t.Errorf("the times between tokens are %g s in all, want %g", sum, want)
	}
	if ttft, most := value("vllm:time_to_first_token_seconds_sum"), (f.TTFTBaseMs+f.TPOTMs+100)/1000; ttft > most {
		t.Errorf("TTFT is %g s, want at most %g", ttft, most)
	}
	if queue := value("vllm:request_queue_time_seconds_sum"); queue != 0 {
		t.Errorf("the request waited %g s in the queue of an idle server", queue)
	}
}

func gauge(t *testing.T, g prometheus.Gauge) float64 {
	t.Helper()
	var m dto.Metric
	if err := g.Write(&m); err != nil {
		t.Fatal(err)
	}
	return m.GetGauge().GetValue()
}

// Delays that later steps make up for count once.
func TestDelayThatIsMadeUpForCountsOnce(t *testing.T) {
	t.Parallel()
	m := newMetrics("m", 1)
	for _, ms := range []int{-1, 500, 300, 100, -50, 200, 250} {
		m.late(time.Duration(ms) * time.Millisecond)
	}
	if sum := gauge(t, m.lateTotal); sum < 0.7499 || sum > 0.7501 {
		t.Errorf("late by %g s in all, want 0.75", sum)
	}
	if most := gauge(t, m.latest); most != 0.5 {
		t.Errorf("late by %g s at most, want 0.5", most)
	}
}
