package ray

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// list is a reply of the state API: rest_response of python/ray/dashboard/optional_utils.py with a ListApiResponse.
func list(rows string) string {
	return `{"result": true, "msg": "", "data": {"result": {"total": 2, "num_after_truncation": 2, "num_filtered": 2, "result": [` + rows +
		`], "partial_failure_warning": "", "warnings": null}}}`
}

const (
	worker = `{"node_id": "5c1a8b", "node_ip": "10.244.1.5", "is_head_node": false, "state": "ALIVE", "state_message": null, "node_name": "10.244.1.5",
	  "resources_total": {"CPU": 8.0, "GPU": 8.0, "memory": 34359738368.0, "node:10.244.1.5": 1.0, "accelerator_type:H100": 1.0, "object_store_memory": 10000000000.0},
	  "labels": {"ray.io/node-id": "5c1a8b", "ray.io/accelerator-type": "H100"}}`
	dead = `{"node_id": "77aa", "node_ip": "10.244.1.6", "is_head_node": true, "state": "DEAD", "state_message": "Expected termination: received SIGTERM",
	  "node_name": "10.244.1.6", "resources_total": {}, "labels": {}}`
)

func TestParseNodes(t *testing.T) {
	t.Parallel()
	got, err := ParseNodes([]byte(list(worker + "," + dead)))
	want := []Node{
		{ID: "5c1a8b", Address: "10.244.1.5", State: Alive, GPUs: 8},
		{ID: "77aa", Address: "10.244.1.6", Head: true, State: "DEAD", Message: "Expected termination: received SIGTERM"},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	for name, raw := range map[string]string{
		"no JSON":      "<html>",
		"empty":        `{}`,
		"an error":     `{"result": false, "msg": "Failed to query data from GCS.", "data": {"result": null}}`,
		"no list":      `{"result": true, "msg": "", "data": {}}`,
		"truncated":    list(worker),
		"partial":      strings.Replace(list(worker+","+dead), `"partial_failure_warning": ""`, `"partial_failure_warning": "1 of 2 raylets"`, 1),
		"no address":   strings.ReplaceAll(list(worker+","+dead), "node_ip", "ip"),
		"no state":     strings.ReplaceAll(list(worker+","+dead), `"state"`, `"status"`),
		"minus a GPU":  strings.ReplaceAll(list(worker+","+dead), `"GPU": 8.0`, `"GPU": -1`),
		"text of GPUs": strings.ReplaceAll(list(worker+","+dead), `"GPU": 8.0`, `"GPU": "8"`),
	} {
		if got, err := ParseNodes([]byte(raw)); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// PlacementGroupState with details: bundles and stats are those of gcs.proto, in the names of the proto.
const (
	placed = `{"placement_group_id": "ab01", "name": "a", "creator_job_id": "02000000", "state": "CREATED", "is_detached": false,
	  "bundles": [{"bundle_id": {"placement_group_id": "ab01", "bundle_index": 0}, "unit_resources": {"GPU": 8.0}, "node_id": "5c1a8b"},
	              {"bundle_id": {"placement_group_id": "ab01", "bundle_index": 1}, "unit_resources": {"GPU": 8.0}, "node_id": "ffffffff"}],
	  "stats": {"creation_request_received_ns": "1", "scheduling_attempt": 1, "scheduling_state": "FINISHED", "highest_retry_delay_ms": 0.0}}`
	waits = `{"placement_group_id": "ab02", "name": "", "creator_job_id": "02000000", "state": "PENDING", "is_detached": true,
	  "bundles": [{"bundle_id": {}, "unit_resources": {"CPU": 1.0}, "node_id": ""}, {"bundle_id": {}, "unit_resources": {"GPU": 0.5}, "node_id": null}],
	  "stats": {"scheduling_state": "NO_RESOURCES"}}`
)

func TestParseGroups(t *testing.T) {
	t.Parallel()
	got, err := ParseGroups([]byte(list(placed + "," + waits)))
	want := []Group{
		{ID: "ab01", Name: "a", State: Created, Scheduling: "FINISHED", Bundles: []Bundle{{Node: "5c1a8b", GPUs: 8}, {GPUs: 8}}},
		{ID: "ab02", State: Pending, Scheduling: "NO_RESOURCES", Bundles: []Bundle{{}, {GPUs: 0.5}}},
	}
	if diff := cmp.Diff(Groups{List: want}, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if len(got.List) == 2 && (got.List[0].Placed() != 1 || got.List[1].Placed() != 0) {
		t.Errorf("%d and %d bundles are placed", got.List[0].Placed(), got.List[1].Placed())
	}
	const counts = `"total": 2, "num_after_truncation": 2, "num_filtered": 2`
	for given, missing := range map[string]string{
		`"total": 9000, "num_after_truncation": 9000, "num_filtered": 2`:   "",
		`"total": 12000, "num_after_truncation": 10000, "num_filtered": 2`: "the head searched 10000 of 12000",
		`"total": 9000, "num_after_truncation": 9000, "num_filtered": 3`:   "2 of 3",
		`"total": 3`: "2 of 3",
	} {
		got, err := ParseGroups([]byte(strings.Replace(list(placed+","+waits), counts, given, 1)))
		if err != nil || got.Missing != missing || len(got.List) != 2 {
			t.Errorf("%s: %+v, %v", given, got, err)
		}
	}
	for name, raw := range map[string]string{
		"without details": strings.ReplaceAll(list(placed+","+waits), `"bundles"`, `"bundle"`),
		"without an ID":   strings.ReplaceAll(list(placed+","+waits), `"placement_group_id": "ab02"`, `"x": 1`),
		"without a state": strings.ReplaceAll(list(placed+","+waits), `"state"`, `"status"`),
	} {
		if got, err := ParseGroups([]byte(raw)); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestParseUsage(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]Usage{
		`{"result": true, "msg": "Got cluster status.", "data": {"autoscalingStatus": null, "autoscalingError": null, "clusterStatus": {"loadMetricsReport": {"usage": {"CPU": [1.0, 32.0], "GPU": [8.0, 32.0]}}}}}`: {Known: true, Used: 8, Total: 32},
		`{"result": true, "data": {"clusterStatus": {"loadMetricsReport": {"usage": {"CPU": [0.0, 8.0]}}}}}`:                                                                                                         {},
		`{"result": true, "data": {"clusterStatus": null}}`: {},
	} {
		if got, err := ParseUsage([]byte(raw)); err != nil || got != want {
			t.Errorf("%s: %+v, %v", raw, got, err)
		}
	}
	for _, raw := range []string{"", "{}", `{"result": false, "msg": "x"}`, `{"result": true, "data": {"clusterStatus": {"loadMetricsReport": {"usage": {"GPU": [8.0]}}}}}`,
		`{"result": true, "data": {"clusterStatus": {"loadMetricsReport": {"usage": {"GPU": [9, 8]}}}}}`} {
		if got, err := ParseUsage([]byte(raw)); err == nil {
			t.Errorf("%s: %+v", raw, got)
		}
	}
}

func TestParseJobs(t *testing.T) {
	t.Parallel()
	j, err := ParseJob([]byte(`{"type": "SUBMISSION", "job_id": "02000000", "submission_id": "a", "driver_info": null, "status": "FAILED", "entrypoint": "x",
	  "message": "Job entrypoint command failed with exit code 1", "error_type": null, "start_time": 1, "end_time": 2, "metadata": {}, "runtime_env": {}, "driver_exit_code": 1}`))
	if diff := cmp.Diff(Job{ID: "a", Status: JobFailed, Message: "Job entrypoint command failed with exit code 1"}, j); diff != "" || err != nil || !j.Terminated() {
		t.Error(err, diff)
	}
	for status, terminated := range map[string]bool{JobPending: false, JobRunning: false, JobStopped: true, JobSucceeded: true} {
		if (Job{Status: status}).Terminated() != terminated {
			t.Errorf("%s: terminated is not %t", status, terminated)
		}
	}
	if id, err := ParseSubmitted([]byte(`{"job_id": "a", "submission_id": "a"}`)); err != nil || id != "a" {
		t.Error(id, err)
	}
	if text, err := ParseLogs([]byte(`{"logs": "one\ntwo\n"}`)); err != nil || text != "one\ntwo\n" {
		t.Error(text, err)
	}
	if v, err := ParseVersion([]byte(`{"version": "4", "ray_version": "2.52.0", "ray_commit": "4ebdc0abe5e5a551625fe7f87053c7e668a6ff74", "session_name": "s"}`)); err != nil || v != "2.52.0" {
		t.Error(v, err)
	}
	for _, raw := range []string{"", "{}", "[]", "Job a does not exist"} {
		_, job := ParseJob([]byte(raw))
		_, submitted := ParseSubmitted([]byte(raw))
		_, logs := ParseLogs([]byte(raw))
		_, version := ParseVersion([]byte(raw))
		if job == nil || submitted == nil || logs == nil || version == nil {
			t.Errorf("%q: %v, %v, %v, %v", raw, job, submitted, logs, version)
		}
	}
}

// A reply other than 2xx is an error with the end of its text; a job that does not exist has an error of its own.
func TestClient(t *testing.T) {
	t.Parallel()
	head := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/jobs/a":
			http.Error(w, "Job a does not exist", http.StatusNotFound)
		case "/api/jobs/b":
			http.Error(w, "Traceback (most recent call last):\n"+strings.Repeat(" ", 500)+"ValueError: b", http.StatusInternalServerError)
		default:
			_, _ = w.Write([]byte(r.Method))
		}
	}))
	t.Cleanup(head.Close)
	c := &Client{Address: strings.TrimPrefix(head.URL, "http://"), HTTP: head.Client()}
	if raw, err := c.Do(t.Context(), http.MethodPost, JobsPath, []byte("{}")); err != nil || string(raw) != "POST" {
		t.Error(string(raw), err)
	}
	for id, want := range map[string]string{"a": "not found: Job a does not exist", "b": "HTTP 500: ValueError: b"} {
		if _, err := c.Do(t.Context(), http.MethodGet, JobPath(id), nil); err == nil || !strings.Contains(strings.Join(strings.Fields(err.Error()), " "), want) || strings.Contains(err.Error(), "Traceback") {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{list(worker + "," + dead), list(placed + "," + waits), `{"result": true, "data": {"clusterStatus": {"loadMetricsReport": {"usage": {"GPU": [1, 2]}}}}}`, `{"submission_id": "a", "status": "RUNNING", "logs": "", "ray_version": "2"}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		nodes, err := ParseNodes(raw)
		for _, n := range nodes {
			if err == nil && (n.ID == "" || n.State == "" || n.GPUs < 0) {
				t.Errorf("node %+v", n)
			}
		}
		groups, _ := ParseGroups(raw)
		for _, g := range groups.List {
			if g.Placed() > len(g.Bundles) {
				t.Errorf("group %+v", g)
			}
		}
		if u, err := ParseUsage(raw); err == nil && u.Used > u.Total {
			t.Errorf("usage %+v", u)
		}
		_, _ = ParseJob(raw)
		_, _ = ParseSubmitted(raw)
		_, _ = ParseLogs(raw)
		_, _ = ParseVersion(raw)
	})
}

// A reply that is too long is not cut.
func TestALongReply(t *testing.T) {
	t.Parallel()
	head := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(make([]byte, maxReply+1)) // the client disconnects
	}))
	t.Cleanup(head.Close)
	c := Client{Address: strings.TrimPrefix(head.URL, "http://"), HTTP: head.Client()}
	if raw, err := c.Do(t.Context(), http.MethodGet, GroupPath("a b"), nil); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Error(len(raw), err)
	}
	if path := GroupPath("a b"); !strings.HasPrefix(path, GroupsPath+"?") || !strings.Contains(path, "filter_keys=name&") || !strings.Contains(path, "filter_predicates=%3D&filter_values=a+b") {
		t.Error(path)
	}
}
