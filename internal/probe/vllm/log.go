package vllm

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
	"github.com/firstlight/firstlight/internal/probe/logline"
)

// LogReport is what a log says.
type LogReport struct {
	Version string   `json:"version,omitempty"`
	KVCache *KVCache `json:"kvCache,omitempty"`
	// FreeMemory is the line about GPU memory that others hold.
	FreeMemory string `json:"freeMemory,omitempty"`
	// Errors are exceptions, the last ones.
	Errors []string `json:"errors,omitempty"`
	// Ready says that the server announced that it serves.
	Ready bool `json:"ready,omitempty"`
	Lines int  `json:"lines"`
}

// KVCache is the refusal of a context length.
type KVCache struct {
	// MaxModelLen is what was asked for, in tokens.
	MaxModelLen int64 `json:"maxModelLenTokens"`
	// Fits is how many tokens would fit, where vLLM says or implies it; 0 when not.
	Fits int64 `json:"fitsTokens,omitempty"`
	// NeededGiB and AvailableGiB are the newer wording's figures.
	NeededGiB    float64 `json:"neededGiB,omitempty"`
	AvailableGiB float64 `json:"availableGiB,omitempty"`
}

const (
	maxErrors = 16
	maxText   = 600
)

var (
	// older: "The model's max seq len (131072) is larger than the maximum number
	// of tokens that can be stored in KV cache (39024)."
	olderKV = regexp.MustCompile(`max seq len \((\d+)\) is larger than the maximum number of tokens that can be stored in KV cache \((\d+)\)`)
	// newer: "To serve at least one request with the models's max seq len (N),
	// (X GiB KV cache is needed, which is larger than the available KV cache
	// memory (Y GiB). ... the estimated maximum model length is M."
	newerKV   = regexp.MustCompile(`max seq len \((\d+)\),\s*\(?([\d.]+) GiB KV cache is needed, which is larger than the available KV cache memory \(([\d.]+) GiB\)`)
	estimate  = regexp.MustCompile(`[Ee]stimated maximum model length is (\d+)`)
	exception = regexp.MustCompile(`\b(\w+(?:Error|Exception)): `)
	version   = regexp.MustCompile(`vLLM API server version (\S+)`)
)

// ParseLog reads a log.
func ParseLog(r io.Reader) (LogReport, error) {
	return guard.Parse("vLLM log", func() (LogReport, error) { return parse(r) })
}

func parse(r io.Reader) (LogReport, error) {
	var rep LogReport
	err := logline.Scan(r, func(l logline.Line) error { rep.line(l.Text); return nil })
	if err != nil {
		return rep, fmt.Errorf("vLLM log: %w", err)
	}
	return rep, nil
}

func (rep *LogReport) line(text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	rep.Lines++
	if m := version.FindStringSubmatch(text); m != nil {
		rep.Version = strings.Clone(m[1])
	}
	if strings.Contains(text, "Application startup complete") {
		rep.Ready = true
	}
	rep.kvCache(text)
	if strings.Contains(text, "Free memory on device") && strings.Contains(text, "less than desired GPU memory utilization") {
		rep.FreeMemory = logClip(text)
	}
	if m := exception.FindStringIndex(text); m != nil {
		rep.remember(logClip(text[m[0]:]))
	}
}

func (rep *LogReport) kvCache(text string) {
	if m := olderKV.FindStringSubmatch(text); m != nil {
		rep.KVCache = &KVCache{MaxModelLen: tokens(m[1]), Fits: tokens(m[2])}
		return
	}
	if m := newerKV.FindStringSubmatch(text); m != nil {
		rep.KVCache = &KVCache{MaxModelLen: tokens(m[1]), NeededGiB: gib(m[2]), AvailableGiB: gib(m[3])}
	}
	if m := estimate.FindStringSubmatch(text); m != nil && rep.KVCache != nil {
		rep.KVCache.Fits = tokens(m[1])
	}
}

// remember keeps the last different errors.
func (rep *LogReport) remember(text string) {
	if slices.Contains(rep.Errors, text) {
		return
	}
	if len(rep.Errors) == maxErrors {
		rep.Errors = rep.Errors[1:]
	}
	rep.Errors = append(rep.Errors, text)
}

func logClip(text string) string {
	if len(text) > maxText {
		text = text[:maxText]
	}
	return strings.ToValidUTF8(strings.Clone(text), "?")
}

func tokens(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func gib(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0
	}
	return v
}

// Fit is the longest context that fits, from what vLLM says or, where it gives
// only memory, in proportion to it; 0 when neither is known.
func (k KVCache) Fit() int64 {
	if k.Fits > 0 {
		return k.Fits
	}
	if k.NeededGiB > 0 && k.AvailableGiB > 0 && k.AvailableGiB < k.NeededGiB {
		return int64(float64(k.MaxModelLen) * k.AvailableGiB / k.NeededGiB)
	}
	return 0
}
