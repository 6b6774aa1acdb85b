package ray

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// JobsPath takes submissions.
const JobsPath = "/api/jobs/"

// JobPath is a job's by its submission ID; with /stop it is stopped, with /logs its log is read.
func JobPath(id string) string { return JobsPath + url.PathEscape(id) }

// States of a job.
const (
	JobPending   = "PENDING"
	JobRunning   = "RUNNING"
	JobStopped   = "STOPPED"
	JobSucceeded = "SUCCEEDED"
	JobFailed    = "FAILED"
)

// Job is a submitted job.
type Job struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	// Message of Ray about the status; of a failed job with the end of its log.
	Message string `json:"message,omitempty"`
}

// Terminated reports whether the job has ended.
func (j Job) Terminated() bool {
	return j.Status == JobStopped || j.Status == JobSucceeded || j.Status == JobFailed
}

// Submission is the body of a submission.
func Submission(id, entrypoint string, metadata map[string]string) ([]byte, error) {
	body, err := json.Marshal(map[string]any{"submission_id": id, "entrypoint": entrypoint, "metadata": metadata, "runtime_env": map[string]any{}})
	if err != nil {
		return nil, fmt.Errorf("encode the submission of job %s: %w", id, err)
	}
	return body, nil
}

// ParseSubmitted reads the reply to a submission: the submission ID.
func ParseSubmitted(raw []byte) (string, error) {
	return guard.Parse("submission of a Ray job", func() (string, error) {
		var r struct {
			ID string `json:"submission_id"`
		}
		if err := guard.JSON(raw, &r); err != nil {
			return "", fmt.Errorf("not a reply of Ray's Jobs API: %w", err)
		}
		if r.ID == "" {
			return "", errors.New("not a reply of Ray's Jobs API: submission_id not found")
		}
		return r.ID, nil
	})
}

// ParseJob reads the reply of JobPath.
func ParseJob(raw []byte) (Job, error) {
	return guard.Parse("Ray job", func() (Job, error) {
		var r struct {
			ID      string  `json:"submission_id"`
			Status  string  `json:"status"`
			Message *string `json:"message"`
		}
		if err := guard.JSON(raw, &r); err != nil {
			return Job{}, fmt.Errorf("not a job of Ray's Jobs API: %w", err)
		}
		if r.ID == "" || r.Status == "" {
			return Job{}, errors.New("not a job of Ray's Jobs API: submission_id or status not found")
		}
		j := Job{ID: r.ID, Status: r.Status}
		if r.Message != nil {
			j.Message = *r.Message
		}
		return j, nil
	})
}

// ParseLogs reads the log of a job.
func ParseLogs(raw []byte) (string, error) {
	return guard.Parse("log of a Ray job", func() (string, error) {
		var r struct {
			Logs *string `json:"logs"`
		}
		if err := guard.JSON(raw, &r); err != nil {
			return "", fmt.Errorf("not a log of Ray's Jobs API: %w", err)
		}
		if r.Logs == nil {
			return "", errors.New("not a log of Ray's Jobs API: logs not found")
		}
		return *r.Logs, nil
	})
}
