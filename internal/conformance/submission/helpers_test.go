package submission

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/catalog"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/plan"
)

const productText = `directory: turbo
metadata:
  platformName: Turbo Encabulator
  platformVersion: "1.20"
  vendorName: Yoyodyne
  websiteUrl: https://yoyo.example/turbo
  repoUrl: https://github.example/yoyo/turbo
  documentationUrl: https://yoyo.example/turbo/docs
  productLogoUrl: https://yoyo.example/turbo.svg
  description: A platform for all encabulating needs.
  contactEmailAddress: turbo@yoyo.example
  k8sConformanceUrl: https://github.com/cncf/k8s-conformance/tree/master/v1.36/turbo
requirements:
  gang_scheduling:
    evidence: [https://yoyo.example/turbo/docs/gangs]
    notes: Volcano ships with the platform
`

func checklist(tb testing.TB) catalog.Programme {
	tb.Helper()
	p, err := catalog.Load("1.36")
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func product(tb testing.TB) Product {
	tb.Helper()
	got, err := ReadProduct("product.yaml", []byte(productText), checklist(tb))
	if err != nil {
		tb.Fatal(err)
	}
	return got
}

// wholeRun has a pass of every requirement, with evidence.
func wholeRun(tb testing.TB) Run {
	tb.Helper()
	start := time.Date(2026, 11, 21, 1, 42, 33, 0, time.UTC)
	run := Run{
		ID: "20261121-014233-7f3a", Tool: "v0.5.0", Kubernetes: "v1.36.3", Cluster: "7d0f5c4e-0000-4000-8000-000000000001", Started: start, Finished: start.Add(4 * time.Minute),
		Simulated: evidence.HardwareReal, Shown: map[string]Shown{},
	}
	for _, r := range checklist(tb).Requirements {
		run.Shown[r.ID] = Shown{
			Verdict: check.Passed, Reason: "both halves were seen", Took: 1500 * time.Millisecond,
			Files: []File{{Name: r.ID + ".md", Content: []byte("# " + r.ID + "\n")}},
		}
	}
	return run
}

func compose(tb testing.TB, run Run, draft bool) Submission {
	tb.Helper()
	s, err := Compose(checklist(tb), product(tb), run, draft)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// written writes a submission to disk and returns its directory.
func written(tb testing.TB, s Submission) string {
	tb.Helper()
	dir, err := Write(tb.TempDir(), s)
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

// web responds as configured, and with 200 to every other request.
type web struct {
	status map[string]int    // by "METHOD url"
	body   map[string]string // by url
	broken map[string]bool   // by url: the request fails

	mu    sync.Mutex
	asked []string
}

func (w *web) Do(req *http.Request) (*http.Response, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	address := req.URL.String()
	w.asked = append(w.asked, req.Method+" "+address)
	if w.broken[address] {
		return nil, fmt.Errorf("no route to host")
	}
	status := w.status[req.Method+" "+address]
	if status == 0 {
		status = http.StatusOK
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(w.body[address])), Request: req}, nil
}

const members = `landscape:
  - {name: App Definition, subcategories: [{items: [{name: Turbo}]}]}
  - name: CNCF Members
    subcategories:
      - items: [{name: Yoyodyne (member)}, {name: Initech (supporter)}]
`

func aWeb() *web {
	return &web{status: map[string]int{}, body: map[string]string{landscape: members}, broken: map[string]bool{}}
}

func planResult(step string) plan.Result {
	return plan.Result{Step: step, Judgement: check.Pass("both halves were seen")}
}
