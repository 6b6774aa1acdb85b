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

// LogReport is the result of a log.
type LogReport struct {
	Version string   `json:"version,omitempty"`
	KVCache *KVCache `json:"kvCache,omitempty"`
	// FreeMemory is the line about GPU memory in use by other processes.
	FreeMemory string `json:"freeMemory,omitempty"`
	// Errors are the last distinct exceptions, and processes that died; those that follow from another one are left out.
	Errors []string `json:"errors,omitempty"`
	// Ready: the server printed that startup is complete.
	Ready bool `json:"ready,omitempty"`
	Lines int  `json:"lines"`
}

// KVCache is the error that the KV cache is too small for the context length.
type KVCache struct {
	// MaxModelLen is the configured context length in tokens.
	MaxModelLen int64 `json:"maxModelLenTokens"`
	// Fits is the number of tokens that fit, if vLLM reports it; else 0.
	Fits int64 `json:"fitsTokens,omitempty"`
	// NeededGiB and AvailableGiB are the figures of the newer message.
	NeededGiB    float64 `json:"neededGiB,omitempty"`
	AvailableGiB float64 `json:"availableGiB,omitempty"`
}

const (
	maxErrors = 16
	maxText   = 600
)

// follows are in errors that a server ends with after another one: the API server and the engine refer to the cause above,
// a process has ended, the engine ends the wait for it, and the executor cannot end its workers (vllm-project/vllm issues
// 17756, 26898, 27194, 29085 and 44411).
var follows = []string{"root cause", " died unexpectedly, shutting down ", "RuntimeError: cancelled", "object has no attribute 'workers'"}

var (
	// older: "The model's max seq len (131072) is larger than the maximum number
	// of tokens that can be stored in KV cache (39024)."
	olderKV = regexp.MustCompile(`max seq len \((\d+)\) is larger than the maximum number of tokens that can be stored in KV cache \((\d+)\)`)
	// newer: "To serve at least one request with the models's max seq len (N),
	// (X GiB KV cache is needed, which is larger than the available KV cache
	// memory (Y GiB). ... the estimated maximum model length is M."
	newerKV   = regexp.MustCompile(`max seq len \((\d+)\),\s*\(?([\d.]+) GiB KV cache is needed, which is larger than the available KV cache memory \(([\d.]+) GiB\)`)
	estimate  = regexp.MustCompile(`[Ee]stimated maximum model length is (\d+)`)
	exception = regexp.MustCompile(`\b\w+(?:Error|Exception): |\b(?:Worker|Engine core) proc \S+ died unexpectedly, `)
	// of the API server up to 0.11, its banner from 0.12 on, and the engine
	version = regexp.MustCompile(`(?:vLLM API server version |█\s+version |Initializing an? (?:V\d )?LLM engine \(v)([^\s)]+)`)
)

// ParseLog parses a log of vLLM.
func ParseLog(r io.Reader) (LogReport, error) {
	return guard.Parse("vLLM log", func() (LogReport, error) { return parse(r) })
}

func parse(r io.Reader) (LogReport, error) {
	var rep LogReport
	err := logline.Scan(r, func(l logline.Line) error { rep.line(l.Text); return nil })
	if err != nil {
		return rep, fmt.Errorf("read vLLM log: %w", err)
	}
	return rep, nil
}

func (rep *LogReport) line(text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	rep.Lines++
	if strings.Contains(text, "version ") || strings.Contains(text, "LLM engine (v") {
		if m := version.FindStringSubmatch(text); m != nil {
			rep.Version = strings.Clone(m[1])
		}
	}
	if strings.Contains(text, "Application startup complete") {
		rep.Ready = true
	}
	rep.kvCache(text)
	if strings.Contains(text, "Free memory on device") && strings.Contains(text, "less than desired GPU memory utilization") {
		rep.FreeMemory = logClip(text)
	}
	if m := exception.FindStringIndex(text); m != nil && (len(rep.Errors) == 0 || !following(text)) {
		rep.remember(logClip(text[m[0]:]))
	}
}

// following reports whether a line has an error that follows from another one.
func following(text string) bool {
	return slices.ContainsFunc(follows, func(part string) bool { return strings.Contains(text, part) })
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

// remember adds a distinct error and drops the oldest beyond maxErrors.
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

// Fit is the longest context in tokens that fits: the number that vLLM reports, otherwise
// scaled by the reported memory; 0 if unknown.
func (k KVCache) Fit() int64 {
	if k.Fits > 0 {
		return k.Fits
	}
	if k.NeededGiB > 0 && k.AvailableGiB > 0 && k.AvailableGiB < k.NeededGiB {
		return int64(float64(k.MaxModelLen) * k.AvailableGiB / k.NeededGiB)
	}
	return 0
}
