package slurm

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// JobInfo is a job as slurmctld sees it. slurmctld forgets a job some time after its end (MinJobAge, default 300 s).
type JobInfo struct {
	Job  string `json:"job"`
	Name string `json:"name"`
	// State is JobState, such as RUNNING or COMPLETED.
	State string `json:"state"`
	// Reason is why it waits or failed; empty for None.
	Reason string `json:"reason,omitempty"`
	// Restarts is how often it was requeued.
	Restarts int `json:"restarts"`
	// Exit is "code:signal" of the batch script.
	Exit  string `json:"exit"`
	Nodes int    `json:"nodes"`
	// BatchHost is the node of the batch script; empty before the job has nodes.
	BatchHost string `json:"batchHost,omitempty"`
	// Suspended: it is suspended, or was.
	Suspended bool `json:"suspended,omitempty"`
}

// JobCommand prints a job in one line.
func JobCommand(job string) []string { return []string{"scontrol", "show", "job", job, "-o"} }

// The states of a job: squeue(1), "JOB STATE CODES", 21.08 to 25.05.
var (
	endStates     = []string{"BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "LAUNCH_FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "RECONFIG_FAIL", "REVOKED", "TIMEOUT"}
	waitingStates = []string{"CONFIGURING", "PENDING", "POWER_UP_NODE", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT"}
)

// Ended reports whether the job has ended, with its epilog.
func (i JobInfo) Ended() bool { return ended(i.State) }

// Ended reports whether the job has ended, with its epilog.
func (s JobState) Ended() bool { return ended(s.State) }

func ended(state string) bool { return slices.Contains(endStates, state) }

// Waiting reports whether the job has not begun.
func (i JobInfo) Waiting() bool { return slices.Contains(waitingStates, i.State) }

// ParseJob reads scontrol show job -o. Fields after those that are needed may have line breaks (SubmitLine).
func ParseJob(raw []byte) (JobInfo, error) {
	return guard.Parse("scontrol show job", func() (JobInfo, error) {
		record := ""
		for line := range strings.Lines(string(oneLine(raw))) {
			switch {
			case !strings.HasPrefix(line, "JobId="):
			case record != "":
				return JobInfo{}, errors.New("more than one job is listed: the tasks of an array, or the components of a heterogeneous job")
			default:
				record = strings.TrimRight(line, "\r\n")
			}
		}
		if record == "" {
			return JobInfo{}, errors.New("no job is listed")
		}
		return parseJob(record)
	})
}

func parseJob(line string) (JobInfo, error) {
	f := map[string]string{}
	key, begin := "", 0
	for _, m := range assignment.FindAllStringSubmatchIndex(line, -1) {
		add(f, key, line[begin:m[0]])
		key, begin = line[m[2]:m[3]], m[1]
	}
	add(f, key, line[begin:])
	i := JobInfo{Job: f["JobId"], Name: f["JobName"], State: f["JobState"], Reason: null(f["Reason"]), Exit: f["ExitCode"], BatchHost: null(f["BatchHost"])}
	i.Suspended = i.State == "SUSPENDED" || null(f["SuspendTime"]) != ""
	least, _, _ := strings.Cut(f["NumNodes"], "-") // a range before the job has nodes
	var errs [2]error
	i.Restarts, errs[0] = strconv.Atoi(f["Restarts"])
	i.Nodes, errs[1] = strconv.Atoi(least)
	if err := errors.Join(errs[:]...); err != nil || i.Job == "" || !stateWord.MatchString(i.State) || i.Exit == "" {
		return JobInfo{}, fmt.Errorf("unexpected line %.300q", line)
	}
	return i, nil
}

// submitted is what sbatch --parsable prints: the ID and, in a federation, the cluster. Lines before it are those
// of plugins.
var submitted = regexp.MustCompile(`^(\d+)(;\S+)?$`)

// ParseSubmitted reads the ID of a job from the output of sbatch --parsable.
func ParseSubmitted(raw []byte) (string, error) {
	return guard.Parse("sbatch", func() (string, error) {
		lines := strings.Fields(string(raw))
		if len(lines) == 0 {
			return "", errors.New("no job ID is printed")
		}
		found := submitted.FindStringSubmatch(lines[len(lines)-1])
		if found == nil {
			return "", fmt.Errorf("unexpected output %.120q", raw)
		}
		return found[1], nil
	})
}
