package ray

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// maxRequest of a submission, in bytes.
const maxRequest = 1 << 20

func (c *Cluster) find(id string) *job {
	for _, j := range c.jobs {
		if j.id == id || j.driver == id && id != "" {
			return j
		}
	}
	return nil
}

// withJob calls f with the job of a request, or replies that it does not exist.
func (c *Cluster) withJob(w http.ResponseWriter, r *http.Request, f func(*job)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	j := c.find(r.PathValue("id"))
	if j == nil {
		http.Error(w, fmt.Sprintf("Job %s does not exist", r.PathValue("id")), http.StatusNotFound)
		return
	}
	f(j)
}

func (c *Cluster) submit(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Entrypoint   string            `json:"entrypoint"`
		SubmissionID string            `json:"submission_id"`
		Metadata     map[string]string `json:"metadata"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest)).Decode(&request); err != nil || request.Entrypoint == "" {
		http.Error(w, "TypeError: __init__() missing 1 required positional argument: 'entrypoint'", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	if request.SubmissionID == "" {
		request.SubmissionID = "raysubmit_" + id(8, fmt.Sprint(len(c.jobs)))
	}
	if c.find(request.SubmissionID) != nil {
		http.Error(w, fmt.Sprintf("ValueError: Job with submission_id %s already exists. Please use a different submission_id.", request.SubmissionID), http.StatusInternalServerError)
		return
	}
	c.jobs = append(c.jobs, &job{id: request.SubmissionID, entrypoint: request.Entrypoint, metadata: request.Metadata, status: jobPending, submitted: c.now()})
	reply(w, map[string]any{"job_id": request.SubmissionID, "submission_id": request.SubmissionID})
}

func (c *Cluster) listJobs(w http.ResponseWriter, _ *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	all := []map[string]any{}
	for _, j := range c.jobs {
		all = append(all, j.details())
	}
	reply(w, all)
}

func (c *Cluster) getJob(w http.ResponseWriter, r *http.Request) {
	c.withJob(w, r, func(j *job) { reply(w, j.details()) })
}

// details are JobDetails.
func (j *job) details() map[string]any {
	details := map[string]any{
		"type": "SUBMISSION", "job_id": nil, "submission_id": j.id, "driver_info": nil, "status": j.status, "entrypoint": j.entrypoint,
		"message": j.message(), "error_type": nil, "start_time": j.submitted.UnixMilli(), "end_time": nil, "metadata": j.metadata,
		"runtime_env": map[string]any{}, "driver_agent_http_address": nil, "driver_node_id": nil, "driver_exit_code": j.exit,
	}
	if j.driver != "" {
		details["job_id"] = j.driver
	}
	if j.terminated() {
		details["end_time"] = j.ended.UnixMilli()
	}
	return details
}

func (c *Cluster) jobLogs(w http.ResponseWriter, r *http.Request) {
	c.withJob(w, r, func(j *job) { reply(w, map[string]any{"logs": j.log}) })
}

func (c *Cluster) stopJob(w http.ResponseWriter, r *http.Request) {
	c.withJob(w, r, func(j *job) {
		stopped := !j.terminated()
		if stopped {
			c.end(j, jobStopped, nil, c.now())
		}
		reply(w, map[string]any{"stopped": stopped})
	})
}

func (c *Cluster) deleteJob(w http.ResponseWriter, r *http.Request) {
	c.withJob(w, r, func(j *job) {
		if !j.terminated() {
			http.Error(w, fmt.Sprintf("RuntimeError: Attempted to delete job '%s', but it is in a non-terminal state %s.", j.id, j.status), http.StatusInternalServerError)
			return
		}
		for i := range c.jobs {
			if c.jobs[i] == j {
				c.jobs = append(c.jobs[:i:i], c.jobs[i+1:]...)
				break
			}
		}
		reply(w, map[string]any{"deleted": true})
	})
}
