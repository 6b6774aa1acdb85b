package ray

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// States of a job (JobStatus of python/ray/dashboard/modules/job/common.py).
const (
	jobPending   = "PENDING"
	jobRunning   = "RUNNING"
	jobStopped   = "STOPPED"
	jobSucceeded = "SUCCEEDED"
	jobFailed    = "FAILED"
)

// driverStart is the time from a submission to the driver's first line.
const driverStart = 200 * time.Millisecond

// job is a submitted job.
type job struct {
	id, driver string // submission ID, and the ID of its driver; empty before it runs
	entrypoint string
	metadata   map[string]string
	status     string
	log        string
	exit       *int
	submitted  time.Time
	ended      time.Time
	keeps      time.Duration // how long the driver runs
	tasks      bool          // the driver runs a task on each bundle, and writes its result
}

func (j *job) terminated() bool { return j.status != jobPending && j.status != jobRunning }

// message is that of JobInfo.
func (j *job) message() string {
	switch j.status {
	case jobPending:
		return "Job has not started yet. It may be waiting for the runtime environment to be set up."
	case jobRunning:
		return "Job is currently running."
	case jobStopped:
		return "Job was intentionally stopped."
	case jobSucceeded:
		return "Job finished successfully."
	default:
		return fmt.Sprintf("Job entrypoint command failed with exit code %d, last available logs (truncated to 20,000 chars):\n%s", *j.exit, j.log)
	}
}

// end ends a job at a time. It requires mu.
func (c *Cluster) end(j *job, status string, exit *int, at time.Time) {
	j.status, j.exit, j.ended = status, exit, at
	c.release(j.driver)
}

// advance brings jobs and groups up to now. It requires mu.
func (c *Cluster) advance() {
	now := c.now()
	for _, j := range c.jobs {
		if j.status == jobPending && now.Sub(j.submitted) >= driverStart {
			c.start(j)
		}
		if j.status == jobRunning && now.Sub(j.submitted) >= driverStart+j.keeps {
			c.end(j, jobSucceeded, new(int), now)
		}
	}
	c.schedule()
	c.runTasks()
}

// runTasks writes the results of the tasks of each group that is placed, once. It requires mu.
func (c *Cluster) runTasks() {
	nodes := c.nodes()
	for _, j := range c.jobs {
		i := slices.IndexFunc(c.groups, func(g *group) bool { return g.job == j.driver })
		if j.status != jobRunning || !j.tasks || i < 0 || c.groups[i].state != created {
			continue
		}
		j.tasks = false
		for bundle, id := range c.groups[i].on {
			devices := 0
			for _, n := range nodes {
				if n.ID() == id {
					devices = n.Devices
				}
			}
			j.log += fmt.Sprintf("gpus of bundle {\"bundle\": %d, \"node\": %q, \"gpus\": %d}\n", bundle, id, devices)
		}
	}
}

// start runs the entrypoint. It requires mu.
func (c *Cluster) start(j *job) {
	c.drivers++
	j.status, j.driver = jobRunning, fmt.Sprintf("%02x000000", c.drivers+1)
	g, keeps, ok := groupOf(j.entrypoint)
	if !ok {
		exit := 127
		j.log = "/bin/sh: 1: " + strings.SplitN(j.entrypoint+" ", " ", 2)[0] + ": not found\n"
		c.end(j, jobFailed, &exit, c.now())
		return
	}
	g.job, g.id, j.keeps = j.driver, id(14, j.id)+j.driver, keeps
	j.tasks = strings.Contains(j.entrypoint, "PlacementGroupSchedulingStrategy(") && strings.Contains(j.entrypoint, "nvidia-smi")
	j.log = "INFO worker.py:1691 -- Using address 127.0.0.1:6379 set in the environment variable RAY_ADDRESS\n" +
		fmt.Sprintf("placement group %s %s\n", g.name, g.id)
	c.groups = append(c.groups, g)
}

// groupOf is the group that an entrypoint creates, and how long its driver keeps it.
func groupOf(entrypoint string) (*group, time.Duration, bool) {
	words := strings.Fields(entrypoint)
	const args = 4
	if len(words) < args || !strings.Contains(entrypoint, "placement_group(") {
		return nil, 0, false
	}
	words = words[len(words)-args:]
	bundles, err1 := strconv.Atoi(words[1])
	gpus, err2 := strconv.Atoi(words[2])
	seconds, err3 := strconv.Atoi(words[3])
	if err1 != nil || err2 != nil || err3 != nil || bundles < 1 {
		return nil, 0, false
	}
	return &group{name: words[0], state: pending, scheduling: "QUEUED", gpus: gpus, on: make([]string, bundles)}, time.Duration(seconds) * time.Second, true
}
