package prom

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// Sample is one element of an instant vector.
type Sample struct {
	Labels map[string]string
	// At is the evaluation time, by the clock of Prometheus.
	At    time.Time
	Value float64
}

// Series identifies the sample's series: its labels without __name__, which functions drop.
func (s Sample) Series() string {
	parts := make([]string, 0, len(s.Labels))
	for name, value := range s.Labels {
		if name != "__name__" {
			parts = append(parts, name+"\x00"+value)
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, "\x01")
}

// response is the envelope of the Prometheus API.
type response struct {
	Status    string          `json:"status"`
	Data      json.RawMessage `json:"data"`
	ErrorType string          `json:"errorType"`
	Error     string          `json:"error"`
	// Warnings and IsPartial mark an answer that lacks series: Thanos and PromQL set the former,
	// VictoriaMetrics the latter.
	Warnings  []string `json:"warnings"`
	IsPartial bool     `json:"isPartial"`
}

// info begins a hint about the query itself, which Prometheus before 3.0 lists with the warnings.
const info = "PromQL info: "

// whole refuses an incomplete answer: in it, a series that was not asked for is the same as one that
// does not exist.
func (r response) whole() error {
	if r.IsPartial {
		return errors.New("incomplete answer: isPartial is true, not every storage node answered")
	}
	for _, w := range r.Warnings {
		if !strings.HasPrefix(w, info) {
			return fmt.Errorf("incomplete answer: %.300s", w)
		}
	}
	return nil
}

func open(raw []byte) (json.RawMessage, error) {
	var r response
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, fmt.Errorf("not a Prometheus API response: %w", err)
	}
	if r.Status != "success" {
		return nil, fmt.Errorf("Prometheus API status %q: %s: %s", r.Status, r.ErrorType, r.Error)
	}
	if len(r.Data) == 0 || string(r.Data) == "null" {
		return nil, errors.New("Prometheus API response without data")
	}
	return r.Data, r.whole()
}

// ParseVector parses the response to an instant query with a vector result.
func ParseVector(raw []byte) ([]Sample, error) {
	return guard.Parse("vector", func() ([]Sample, error) { return parseVector(raw) })
}

func parseVector(raw []byte) ([]Sample, error) {
	data, err := open(raw)
	if err != nil {
		return nil, err
	}
	var body struct {
		ResultType string          `json:"resultType"`
		Result     json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(data, &body); err != nil {
		return nil, fmt.Errorf("read vector: %w", err)
	}
	if body.ResultType != "vector" {
		return nil, fmt.Errorf("result type is %q, want vector", body.ResultType)
	}
	var result []struct {
		Metric    map[string]string  `json:"metric"`
		Value     [2]json.RawMessage `json:"value"`
		Histogram json.RawMessage    `json:"histogram"`
	}
	if len(body.Result) == 0 || string(body.Result) == "null" {
		return nil, errors.New("read vector: its result is missing")
	}
	if err := json.Unmarshal(body.Result, &result); err != nil {
		return nil, fmt.Errorf("read vector: %w", err)
	}
	out := make([]Sample, 0, len(result))
	for _, r := range result {
		if len(r.Histogram) > 0 {
			return nil, fmt.Errorf("sample %v is a native histogram: must be a number", r.Metric)
		}
		s, err := parseSample(r.Metric, r.Value)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func parseSample(labels map[string]string, value [2]json.RawMessage) (Sample, error) {
	var at float64
	if err := json.Unmarshal(value[0], &at); err != nil {
		return Sample{}, fmt.Errorf("read time of sample %v: %w", labels, err)
	}
	var text string
	if err := json.Unmarshal(value[1], &text); err != nil {
		return Sample{}, fmt.Errorf("read value of sample %v: %w", labels, err)
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return Sample{}, fmt.Errorf("read value of sample %v: %w", labels, err)
	}
	if err := finite(labels, v); err != nil {
		return Sample{}, err
	}
	t, err := unix(at)
	if err != nil {
		return Sample{}, fmt.Errorf("read time of sample %v: %w", labels, err)
	}
	return Sample{Labels: labels, At: t, Value: v}, nil
}

// ErrNotFinite is in the error of a sample without a number.
var ErrNotFinite = errors.New("must be a finite number; look at the exporter of the series, or at the recording rule that divides by 0")

// finite refuses NaN and the infinities, which Prometheus stores as any other value: no limit holds for them, and
// the JSON of an observation has neither.
func finite(labels map[string]string, v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("value of sample %v is %v: %w", labels, v, ErrNotFinite)
	}
	return nil
}

// unix converts Unix seconds with a fraction.
func unix(seconds float64) (time.Time, error) {
	const most = 1 << 40 // far beyond any clock; keeps the conversion exact
	if math.IsNaN(seconds) || math.Abs(seconds) > most {
		return time.Time{}, fmt.Errorf("invalid time %v", seconds)
	}
	return time.UnixMilli(int64(math.Round(seconds * 1000))).UTC(), nil
}
