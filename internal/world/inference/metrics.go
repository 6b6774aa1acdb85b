package inference

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics has vLLM's metrics.
type metrics struct {
	registry                     *prometheus.Registry
	running, waiting, cacheUsage prometheus.Gauge
	prompt, generation           prometheus.Counter
	preemptions                  prometheus.Counter
	success                      *prometheus.CounterVec
	ttft, itl, e2e, queue        prometheus.Histogram
	// Not in vLLM: how late the simulation is.
	lateTotal, latest prometheus.Gauge
	worst, before     time.Duration
}

func newMetrics(model string, blocks int) *metrics {
	labels := prometheus.Labels{"engine": "0", "model_name": model}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels})
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels})
	}
	histogram := func(name, help string, buckets ...float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, ConstLabels: labels, Buckets: buckets})
	}
	latency := []float64{0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60}
	m := &metrics{
		registry:    prometheus.NewRegistry(),
		running:     gauge("vllm:num_requests_running", "Number of requests in model execution batches."),
		waiting:     gauge("vllm:num_requests_waiting", "Number of requests waiting to be processed."),
		cacheUsage:  gauge("vllm:kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage."),
		prompt:      counter("vllm:prompt_tokens_total", "Number of prefill tokens processed."),
		generation:  counter("vllm:generation_tokens_total", "Number of generation tokens processed."),
		preemptions: counter("vllm:num_preemptions_total", "Cumulative number of preemption from the engine."),
		success: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vllm:request_success_total", Help: "Count of successfully processed requests.", ConstLabels: labels,
		}, []string{"finished_reason"}),
		ttft: histogram("vllm:time_to_first_token_seconds", "Histogram of time to first token in seconds.",
			0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80),
		itl: histogram("vllm:inter_token_latency_seconds", "Histogram of inter-token latency in seconds.",
			0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80),
		e2e:   histogram("vllm:e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.", latency...),
		queue: histogram("vllm:request_queue_time_seconds", "Histogram of time spent in WAITING phase for request.", latency...),
	}
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "vllm:cache_config_info", Help: "Information of the LLMEngine CacheConfig",
		ConstLabels: prometheus.Labels{"engine": "0", "block_size": strconv.Itoa(blockTokens), "num_gpu_blocks": strconv.Itoa(blocks), "gpu_memory_utilization": "0.9"},
	})
	info.Set(1)
	m.lateTotal = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "firstlight_simulation_late_seconds_sum", Help: "Time by which steps of this simulated server ended late because the machine was busy, in seconds.",
	})
	m.latest = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "firstlight_simulation_late_seconds_max", Help: "Maximum time by which a step of this simulated server ended late, in seconds.",
	})
	m.registry.MustRegister(m.lateTotal, m.latest, m.running, m.waiting, m.cacheUsage, m.prompt, m.generation, m.preemptions, m.success, m.ttft, m.itl, m.e2e, m.queue, info)
	for _, reason := range []string{"stop", "length", "abort"} {
		m.success.WithLabelValues(reason)
	}
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// late records by how much a step was delivered after its due time. The total adds only the growth
// of the delay since the previous step: one delay of several steps counts once. It must be called
// from one goroutine.
func (m *metrics) late(by time.Duration) {
	m.lateTotal.Add(max(0, (by - max(0, m.before)).Seconds()))
	m.before = by
	m.worst = max(m.worst, by)
	m.latest.Set(m.worst.Seconds())
}

func (m *metrics) queued(d time.Duration) { m.queue.Observe(d.Seconds()) }

func (m *metrics) finished(reason string) { m.success.WithLabelValues(reason).Inc() }

// token counts one generated token.
func (m *metrics) token(s *sequence, now time.Time) {
	m.generation.Inc()
	if s.lastSeen.IsZero() {
		m.prompt.Add(float64(s.prompt))
		m.ttft.Observe(now.Sub(s.arrived).Seconds())
	} else {
		m.itl.Observe(now.Sub(s.lastSeen).Seconds())
	}
	s.lastSeen = now
}

// paused counts a pause between two tokens.
func (m *metrics) paused(d time.Duration) {
	if d > 0 {
		m.itl.Observe(d.Seconds())
	}
}

func (m *metrics) done(s *sequence, now time.Time) {
	m.e2e.Observe(now.Sub(s.arrived).Seconds())
	m.finished("length")
}
