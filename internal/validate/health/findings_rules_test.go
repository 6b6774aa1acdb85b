package health_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/validate/health"
)

// Each component that does not hold has its findings, whatever others have; each says how long the
// operation was waited for, and what to do about this kind of failure.
func TestFindingsOfComponents(t *testing.T) {
	t.Parallel()
	absent := "error: " + fmt.Sprintf(pods, "Failed")
	for name, tt := range map[string]struct {
		components []health.Component
		want       []string // suspect, text of the message, text of the remedy
	}{
		"one that proves nothing, after one that fails": {[]health.Component{component("ab", available("one")), component("a", absent)}, []string{
			"Deployment ns/one|not found; evaluated 7 times in 1m0s|find out why", "component a|checks/a/health-check.yaml matched no object|assert at least one object",
		}},
		"one that fails, and proves nothing": {[]health.Component{component("a", available("one"), absent)}, []string{"Deployment ns/one|not found; evaluated 7 times in 1m0s|find out why"}},
		"after a failure": {[]health.Component{component("a", available("one"), available("two"))}, []string{
			"Deployment ns/one|not found; evaluated 7 times in 1m0s|find out why", "Deployment ns/two|not found; evaluated once, since an earlier assertion failed|find out why",
		}},
		"a kind that is not served":       {[]health.Component{component("a", "assert: {resource: {apiVersion: x/v1, kind: Thing, metadata: {name: t}}}")}, []string{"Thing t|the API server does not serve Thing|install the CRD of the kind"}},
		"an expression without an answer": {[]health.Component{component("a", "assert: {resource: {($x): 2}}")}, []string{"expressions|variable not defined: $x|correct the assertion or its input"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := health.New(tt.components, given(clusterOf(t)), health.Options{Timeout: time.Minute, Interval: 10 * time.Second})
				j := c.Judge(observe(t, c))
				if j.Verdict != check.Failed || len(j.Findings) != len(tt.want) {
					t.Errorf("%s: %+v", j.Verdict, j.Findings)
				}
				for _, want := range tt.want {
					part := strings.Split(want, "|")
					if !slices.ContainsFunc(j.Findings, func(f check.Finding) bool {
						return f.Suspect == part[0] && strings.Contains(f.Message, part[1]) && strings.Contains(f.Remedy, part[2])
					}) {
						t.Errorf("no finding %q: %+v", want, j.Findings)
					}
				}
			})
		})
	}
}
