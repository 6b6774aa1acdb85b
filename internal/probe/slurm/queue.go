package slurm

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// Job is a job that is pending, running or completing.
type Job struct{ ID, Name string }

// QueueCommand prints the jobs of the user, of all partitions.
func QueueCommand() []string { return []string{"squeue", "--me", "-h", "-a", "-o", "%i|%j"} }

// ParseQueue reads squeue with the fields of QueueCommand; none without a job.
func ParseQueue(raw []byte) ([]Job, error) {
	return guard.Parse("squeue", func() ([]Job, error) {
		var out []Job
		for line := range strings.Lines(string(raw)) {
			line = strings.TrimRight(line, "\r\n")
			if strings.TrimSpace(line) == "" {
				continue
			}
			id, name, ok := strings.Cut(line, "|")
			if !ok || id == "" {
				return nil, fmt.Errorf("unexpected line %.120q", line)
			}
			out = append(out, Job{ID: id, Name: name})
		}
		return out, nil
	})
}

// JobState is a job and its state, such as RUNNING.
type JobState struct{ ID, State string }

// StatesCommand prints the user's jobs of a name, also those that have ended (see JobInfo).
func StatesCommand(name string) []string {
	return []string{"squeue", "--me", "-h", "-a", "-t", "all", "--name=" + name, "-o", "%i|%T"}
}

// ParseLastState reads the last job of squeue with the fields of StatesCommand.
func ParseLastState(raw []byte) (JobState, error) {
	return guard.Parse("squeue", func() (JobState, error) {
		jobs, err := ParseQueue(raw)
		if err != nil {
			return JobState{}, err
		}
		last, highest := JobState{}, -1
		for _, j := range jobs {
			id, err := strconv.Atoi(j.ID)
			if err != nil || !stateWord.MatchString(j.Name) {
				return JobState{}, fmt.Errorf("unexpected job %.60q", j.ID+"|"+j.Name)
			}
			if id > highest {
				last, highest = JobState{ID: j.ID, State: j.Name}, id
			}
		}
		if highest < 0 {
			return JobState{}, errors.New("no job is listed")
		}
		return last, nil
	})
}
