package ray

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// at sends a request and returns the status and the decoded reply.
func at(t *testing.T, h http.Handler, method, path, body string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	return w.Code, w.Body.String()
}

// groups are the states of the placement groups with the number of placed bundles, oldest first.
func groups(t *testing.T, h http.Handler) string {
	t.Helper()
	_, raw := at(t, h, http.MethodGet, "/api/v0/placement_groups?detail=True", "")
	var r struct {
		Data struct {
			Result struct {
				Result []struct {
					State   string
					Bundles []struct {
						Node string `json:"node_id"`
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(raw), &r); err != nil {
		t.Fatal(err, raw)
	}
	var out []string
	for _, g := range r.Data.Result.Result {
		placed := 0
		for _, b := range g.Bundles {
			if b.Node != "" {
				placed++
			}
		}
		out = append(out, fmt.Sprintf("%s %d/%d", g.State, placed, len(g.Bundles)))
	}
	return strings.Join(out, ", ")
}

// A group is placed as a whole or not at all, each bundle on another node; it ends with its job. A node that does
// not commit leaves half of it.
func TestPlacementGroups(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	nodes := []Node{{Name: "head", Address: "10.0.0.1", Head: true}, {Name: "a", Address: "10.0.0.2", GPUs: 8}, {Name: "b", Address: "10.0.0.3", GPUs: 8}}
	h := New(func() []Node { return nodes }, func() time.Time { return now }).Handler()
	submit := func(id string, bundles int) {
		t.Helper()
		body := fmt.Sprintf(`{"submission_id": %q, "entrypoint": "python -c 'placement_group(' %s %d 8 60"}`, id, id, bundles)
		if code, text := at(t, h, http.MethodPost, "/api/jobs/", body); code != http.StatusOK {
			t.Fatal(code, text)
		}
		now = now.Add(time.Second)
	}
	want := func(when, states string) {
		t.Helper()
		if got := groups(t, h); got != states {
			t.Errorf("%s: %q, want %q", when, got, states)
		}
	}
	submit("one", 2)
	if _, text := at(t, h, http.MethodGet, "/api/jobs/", ""); !strings.HasPrefix(text, "[{") || !strings.Contains(text, `"submission_id":"one"`) {
		t.Errorf("the list of jobs: %s", text)
	}
	want("that fits", "CREATED 2/2")
	if _, text := at(t, h, http.MethodGet, "/api/jobs/one/logs", ""); strings.Contains(text, "gpus of bundle") {
		t.Errorf("a job without tasks has results: %s", text)
	}
	if _, text := at(t, h, http.MethodGet, "/api/v0/placement_groups?filter_keys=name&filter_predicates=%3D&filter_values=other", ""); strings.Contains(text, "CREATED") || !strings.Contains(text, `"num_filtered":0`) {
		t.Errorf("not filtered: %s", text)
	}
	submit("two", 2)
	want("a second one", "CREATED 2/2, PENDING 0/2")
	if code, _ := at(t, h, http.MethodDelete, "/api/jobs/one", ""); code != http.StatusInternalServerError {
		t.Errorf("a running job was deleted: %d", code)
	}
	if _, text := at(t, h, http.MethodPost, "/api/jobs/one/stop", ""); !strings.Contains(text, `"stopped":true`) {
		t.Error(text)
	}
	want("after the first", "REMOVED 0/2, CREATED 2/2")
	now = now.Add(time.Minute)
	want("after its time", "REMOVED 0/2, REMOVED 0/2")
	if _, text := at(t, h, http.MethodGet, "/api/jobs/two", ""); !strings.Contains(text, `"status":"SUCCEEDED"`) {
		t.Error(text)
	}
	submit("large", 3)
	want("a larger one", "REMOVED 0/2, REMOVED 0/2, PENDING 0/3")
	at(t, h, http.MethodPost, "/api/jobs/large/stop", "")
	nodes[2].CommitFails = true
	submit("half", 2)
	want("half", "REMOVED 0/2, REMOVED 0/2, REMOVED 0/3, RESCHEDULING 1/2")
	if code, text := at(t, h, http.MethodPost, "/api/jobs/", `{"submission_id": "half", "entrypoint": "x"}`); code != http.StatusInternalServerError || !strings.Contains(text, "already exists") {
		t.Error(code, text)
	}
	at(t, h, http.MethodPost, "/api/jobs/", `{"submission_id": "other", "entrypoint": "nonsense"}`)
	now = now.Add(time.Second)
	if _, text := at(t, h, http.MethodGet, "/api/jobs/other", ""); !strings.Contains(text, `"status":"FAILED"`) {
		t.Error(text)
	}
	if code, _ := at(t, h, http.MethodGet, "/api/jobs/none", ""); code != http.StatusNotFound {
		t.Error(code)
	}
}

// A task on each bundle lists the GPUs of its pod, which are not those that Ray offers.
func TestTasks(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	nodes := []Node{{Name: "a", Address: "10.0.0.2", GPUs: 8, Devices: 8}, {Name: "b", Address: "10.0.0.3", GPUs: 8, Devices: 7}}
	h := New(func() []Node { return nodes }, func() time.Time { return now }).Handler()
	at(t, h, http.MethodPost, "/api/jobs/", `{"submission_id": "x", "entrypoint": "python -c 'placement_group( PlacementGroupSchedulingStrategy( nvidia-smi' x 2 8 60"}`)
	now = now.Add(time.Second)
	at(t, h, http.MethodGet, "/api/jobs/x", "")
	now = now.Add(time.Second)
	_, text := at(t, h, http.MethodGet, "/api/jobs/x/logs", "")
	for i, want := range []string{`\"gpus\": 8}`, `\"gpus\": 7}`} {
		if !strings.Contains(text, fmt.Sprintf(`gpus of bundle {\"bundle\": %d, \"node\": \"%s\", %s`, i, nodes[i].ID(), want)) {
			t.Errorf("bundle %d: %s", i, text)
		}
	}
}
