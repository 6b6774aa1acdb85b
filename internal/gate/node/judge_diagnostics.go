package node

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// complaint is the messages of diagnostics about one suspect.
type complaint struct {
	texts    []string
	severity int
}

// Messages of tests that did not run, of GPUs that are healthy.
var (
	// busyCopy: the driver still counts the copies of the test before nvbandwidth, with DCGM before 4.5.1 (its release
	// notes; NVIDIA/DCGM issue 272).
	busyCopy = regexp.MustCompile(`memory copy utili\w+ for the GPU: \d+ is greater than`)
	// noOutput: the helper of the test pcie was not started, or printed an error of libnuma, in jobs that have some of the
	// processors, and with the packages of one CUDA of two (NVIDIA/DCGM issues 253 and 254).
	noOutput = regexp.MustCompile(`internal error during the test: '(?:Output of child process|A child process) \(\d+\)`)
)

const (
	remedyBusyCopy = "not a failure of the GPU: update DCGM to 4.5.1 or later, or run dcgmi diag -r nvbandwidth on its own"
	remedyNoOutput = "read the log of dcgmi diag (/var/log/nvidia-dcgm/nvvs.log): run it with all processors of the node, and with DCGM's packages for the CUDA of the driver"
)

var namesGPU = regexp.MustCompile(`\bGPU (\d{1,3})\b`)

// complaints collects the messages by suspect.
type complaints struct {
	bad map[string]*complaint
	// skipped are the suspects of results that were skipped without a reason, by test.
	skipped map[string][]string
}

// judgeTests adds a finding for each suspect with results other than Pass, and one for the
// node if tests were only skipped.
func (g *Gate) judgeTests(b *check.Builder, h *host, at slots, required []string) {
	c := complaints{bad: map[string]*complaint{}, skipped: map[string][]string{}}
	for _, t := range h.diag.fig.Diag.Tests {
		need := slices.ContainsFunc(required, t.Is)
		if didNotRun(b, h, t, need) {
			continue
		}
		for _, r := range t.Results {
			if r.Status == nvidia.DiagPass {
				passedWithError(b, h, suspectOf(h, at, r), t, r, need)
				continue
			}
			if r.Status == nvidia.DiagNotRun {
				continue
			}
			if r.Status == nvidia.DiagFail || need {
				c.add(suspectOf(h, at, r), t, r)
			} else if len(r.Warnings) > 0 {
				b.Note(h.diag.obs.ID, suspectOf(h, at, r), remedyOf(severityOf(r)), "%s", complain(t, r))
			}
		}
		summary := nvidia.DiagResult{Status: t.Status, Warnings: ofSummary(t)}
		if t.Status == nvidia.DiagPass {
			passedWithError(b, h, suspectOf(h, at, summary), t, summary, need)
		}
		if len(summary.Warnings) > 0 && (t.Status == nvidia.DiagFail || need && t.Status != nvidia.DiagPass) {
			c.add(suspectOf(h, at, summary), t, summary)
		} else if worseThanResults(t, need) {
			b.Fail(h.diag.obs.ID, h.name, remedyOf(nvidia.SeverityTriage), "diagnostic %s: %s, but none of its results is", t.Name, t.Status)
		}
	}
	for _, suspect := range slices.Sorted(maps.Keys(c.bad)) {
		b.Fail(h.diag.obs.ID, suspect, remedyOf(c.bad[suspect].severity), "%s", strings.Join(c.bad[suspect].texts, "; "))
	}
	if left := c.leftOut(h); left != "" {
		b.Fail(h.diag.obs.ID, h.name, "find the reason why they were skipped (another GPU of the node, ECC off, a process on the GPU), then run the gate again", "required diagnostics were skipped: %s", left)
	}
}

// passedWithError reports an error that a test recorded and passed with, as DCGM 4.5 does for memory that it
// cannot allocate: whether it tested what it is for is unknown.
func passedWithError(b *check.Builder, h *host, suspect string, t nvidia.DiagTest, r nvidia.DiagResult, required bool) {
	if !slices.ContainsFunc(r.Warnings, func(w nvidia.DiagWarning) bool { return w.ErrorID != 0 }) {
		return
	}
	report := b.Note
	if required {
		report = b.Unobserved
	}
	report(h.diag.obs.ID, suspect, remedyOf(severityOf(r)), "passed, but recorded an error: %s", complain(t, r))
}

// didNotRun reports a test that has failed and only says that it did not run.
func didNotRun(b *check.Builder, h *host, t nvidia.DiagTest, required bool) bool {
	switch text := onlySays(t, busyCopy); {
	case text != "" && !required:
		b.Note(h.diag.obs.ID, h.name, remedyBusyCopy, "diagnostic %s did not run: %s", t.Name, text)
		return true
	case text != "":
		b.Unobserved(h.diag.obs.ID, h.name, remedyBusyCopy, "diagnostic %s did not run: %s", t.Name, text)
		return true
	}
	text := onlySays(t, noOutput)
	if text == "" || !required {
		return false
	}
	b.Unobserved(h.diag.obs.ID, h.name, remedyNoOutput, "diagnostic %s did not run: %s", t.Name, text)
	return true
}

// onlySays is the first message of a test, if all of them are of one form; else empty. A message may be of one GPU, and
// the status of all.
func onlySays(t nvidia.DiagTest, form *regexp.Regexp) string {
	warnings := slices.Clone(t.Warnings)
	for _, r := range t.Results {
		warnings = append(warnings, r.Warnings...)
	}
	text := ""
	for _, w := range warnings {
		if !form.MatchString(w.Text) {
			return ""
		}
		text = cmp.Or(text, strings.TrimSpace(w.Text))
	}
	return text
}

// ofSummary are the warnings of a summary that no result has.
func ofSummary(t nvidia.DiagTest) []nvidia.DiagWarning {
	return slices.DeleteFunc(slices.Clone(t.Warnings), func(w nvidia.DiagWarning) bool {
		return slices.ContainsFunc(t.Results, func(r nvidia.DiagResult) bool { return slices.Contains(r.Warnings, w) })
	})
}

func (c *complaints) add(suspect string, t nvidia.DiagTest, r nvidia.DiagResult) {
	if r.Status == nvidia.DiagSkip && len(r.Warnings) == 0 {
		c.skipped[t.Name] = append(c.skipped[t.Name], suspect)
		return
	}
	if c.bad[suspect] == nil {
		c.bad[suspect] = &complaint{}
	}
	c.bad[suspect].texts = append(c.bad[suspect].texts, complain(t, r))
	c.bad[suspect].severity = worse(c.bad[suspect].severity, severityOf(r))
}

// leftOut lists the skipped tests with their suspects, except suspects with other messages.
func (c *complaints) leftOut(h *host) string {
	var texts []string
	for _, test := range slices.Sorted(maps.Keys(c.skipped)) {
		var parts []string
		for _, suspect := range c.skipped[test] {
			if c.bad[suspect] == nil {
				parts = append(parts, strings.TrimPrefix(suspect, h.name+"/"))
			}
		}
		if len(parts) > 0 {
			texts = append(texts, test+" on "+strings.Join(parts, ", "))
		}
	}
	return strings.Join(texts, "; ")
}

// worseThanResults reports whether a test's summary has a failure that no result has.
func worseThanResults(t nvidia.DiagTest, required bool) bool {
	if t.Status == nvidia.DiagPass || t.Status == nvidia.DiagNotRun || !required && t.Status != nvidia.DiagFail {
		return false
	}
	return !slices.ContainsFunc(t.Results, func(r nvidia.DiagResult) bool { return r.Status == t.Status })
}

// suspectOf is the GPU of a result. For tests of the whole node, DCGM 3 names it only in the
// warnings.
func suspectOf(h *host, at slots, r nvidia.DiagResult) string {
	if r.ID != nil {
		if r.Group == nvidia.DiagGroupGPU {
			return at.diagnosed(h, *r.ID)
		}
		return fmt.Sprintf("%s/%s%d", h.name, strings.ToLower(r.Group), *r.ID)
	}
	named := map[int]bool{}
	for _, w := range r.Warnings {
		for _, m := range namesGPU.FindAllStringSubmatch(w.Text, -1) {
			if n, err := strconv.Atoi(m[1]); err == nil {
				named[n] = true
			}
		}
	}
	if len(named) == 1 {
		for n := range named {
			return at.diagnosed(h, n)
		}
	}
	return h.name
}

func complain(t nvidia.DiagTest, r nvidia.DiagResult) string {
	texts := []string{fmt.Sprintf("diagnostic %s: %s", t.Name, r.Status)}
	for _, w := range r.Warnings {
		texts = append(texts, strings.TrimSpace(w.Text))
	}
	return strings.Join(texts, ": ")
}

func severityOf(r nvidia.DiagResult) int {
	s := 0
	for _, w := range r.Warnings {
		s = worse(s, w.Severity)
	}
	return s
}

// worse is the severity with the higher priority.
func worse(a, b int) int {
	order := []int{0, nvidia.SeverityMonitor, nvidia.SeverityConfig, nvidia.SeverityUnknown, nvidia.SeverityTriage, nvidia.SeverityReset, nvidia.SeverityIsolate}
	return slices.MaxFunc([]int{a, b}, func(x, y int) int { return cmp.Compare(slices.Index(order, x), slices.Index(order, y)) })
}

func remedyOf(severity int) string {
	switch severity {
	case nvidia.SeverityIsolate:
		return "drain the node and take the GPU out of service: replace it (RMA)"
	case nvidia.SeverityReset:
		return "drain the node and reset the GPU (nvidia-smi --gpu-reset) or reboot, then run the gate again"
	case nvidia.SeverityConfig:
		return "correct the node's configuration that the message names, then run the gate again"
	case nvidia.SeverityMonitor:
		return remedyHeat
	default:
		return "drain the node, run dcgmi diag -r 3 on this GPU alone and compare with a good node; if it fails again, replace it (RMA)"
	}
}
