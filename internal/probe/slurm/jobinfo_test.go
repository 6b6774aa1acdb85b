package slurm

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// published are lines of scontrol show job -o of other versions: their fields, in their order, as the sites that
// published them show them without -o.
var published = map[string]struct {
	raw  string
	want JobInfo
}{
	"20.02, completed": {"JobId=35693664 JobName=create_burst_buffer UserId=siddiq90(92503) GroupId=siddiq90(92503) MCS_label=N/A Priority=73380 Nice=0 Account=nstaff QOS=debug_knl JobState=COMPLETED Reason=None Dependency=(null) Requeue=0 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0 RunTime=00:01:38 TimeLimit=00:05:00 TimeMin=N/A Partition=debug_knl AllocNode:Sid=cori06:62431 ReqNodeList=(null) ExcNodeList=(null) NodeList=nid03546 BatchHost=nid03546 NumNodes=1 NumCPUs=272 NumTasks=1 CPUs/Task=1 ReqB:S:C:T=0:0:*:* TRES=cpu=272,mem=87G,energy=11972,node=1,billing=272 Socks/Node=* Command=/global/generate.sh Comment=JobState=FAILED Restarts=9 NumNodes=7\n",
		JobInfo{Job: "35693664", Name: "create_burst_buffer", State: "COMPLETED", Exit: "0:0", Nodes: 1, BatchHost: "nid03546"}},
	"24.11, running": {"JobId=13 JobName=tf_mnist UserId=qwx(1001) GroupId=qwx(1001) MCS_label=N/A Priority=1 Nice=0 Account=(null) QOS=normal JobState=RUNNING Reason=None Dependency=(null) Requeue=1 Restarts=2 BatchFlag=1 Reboot=0 ExitCode=0:0 RunTime=00:01:06 NodeList=server2 BatchHost=server2 NumNodes=1 NumCPUs=8 LicensesAlloc=(null)\n",
		JobInfo{Job: "13", Name: "tf_mnist", State: "RUNNING", Exit: "0:0", Restarts: 2, Nodes: 1, BatchHost: "server2"}},
	"23.02, without -o": {"JobId=3662 JobName=test\n   UserId=a(1559) GroupId=b(500) MCS_label=N/A\n   Priority=100 Nice=0 Account=a QOS=a\n   JobState=RUNNING Reason=None Dependency=(null)\n   Requeue=0 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0\n   NodeList=gpu1\n   BatchHost=gpu1\n   NumNodes=1 NumCPUs=1 NumTasks=1 CPUs/Task=1 ReqB:S:C:T=0:0:*:*\n   SubmitLine=sbatch a\n   JobState=COMPLETED\n\n",
		JobInfo{Job: "3662", Name: "test", State: "RUNNING", Exit: "0:0", Nodes: 1, BatchHost: "gpu1"}},
	"pending": {"\nJobId=8 JobName=a JobState=PENDING Reason=ReqNodeNotAvail,_UnavailableNodes:gpu-02 Dependency=(null) Requeue=0 Restarts=0 ExitCode=0:0 NodeList=(null) NumNodes=3-3 NumCPUs=3 SubmitLine=sbatch --wrap=a\nJobState=COMPLETED\n",
		JobInfo{Job: "8", Name: "a", State: "PENDING", Reason: "ReqNodeNotAvail,_UnavailableNodes:gpu-02", Exit: "0:0", Nodes: 3}},
}

func TestParseJob(t *testing.T) {
	t.Parallel()
	for name, tt := range published {
		got, err := ParseJob([]byte(tt.raw))
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	for name, want := range map[string]JobInfo{
		"job-pending.txt":   {Job: "6", Name: "firstlight-training-r1", State: "PENDING", Exit: "0:0", Nodes: 3},
		"job-completed.txt": {Job: "6", Name: "firstlight-training-r1", State: "COMPLETED", Exit: "0:0", Nodes: 3, BatchHost: "gpu-01"},
		"job-cancelled.txt": {Job: "3", Name: "firstlight-training-r1", State: "CANCELLED", Exit: "0:15", Nodes: 3, BatchHost: "gpu-01"},
		"job-failed.txt":    {Job: "21", Name: "firstlight-training-r1", State: "FAILED", Reason: "NonZeroExitCode", Exit: "143:0", Nodes: 3, BatchHost: "gpu-01"},
		"job-node-fail.txt": {Job: "22", Name: "firstlight-training-r1", State: "NODE_FAIL", Reason: "NodeDown", Exit: "0:15", Nodes: 3, BatchHost: "gpu-01"},
	} {
		got, err := ParseJob(captured(t, name))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	whole := published["pending"].raw
	for _, bad := range []string{
		"", "No jobs in the system\n", "slurm_load_jobs error: Invalid job id specified\n", "JobId=7 JobName=a\n",
		published["24.11, running"].raw + published["20.02, completed"].raw, // which state decides is unknown
		strings.Replace(whole, "Restarts=0", "Restarts=x", 1), strings.Replace(whole, "NumNodes=3-3", "", 1), strings.Replace(whole, "ExitCode=0:0", "", 1), strings.Replace(whole, "JobState=PENDING", "JobState=pending?", 1),
	} {
		if got, err := ParseJob([]byte(bad)); err == nil {
			t.Errorf("%q: %+v", bad, got)
		}
	}
}

// A job in another state runs, or the state is unknown: the gate waits for its end.
func TestJobStates(t *testing.T) {
	t.Parallel()
	for state, want := range map[string][2]bool{
		"PENDING": {true, false}, "REQUEUED": {true, false}, "RUNNING": {false, false}, "COMPLETING": {false, false}, "TOASTED": {false, false},
		"COMPLETED": {false, true}, "NODE_FAIL": {false, true}, "CANCELLED": {false, true}, "TIMEOUT": {false, true},
	} {
		i := JobInfo{State: state}
		if got := [2]bool{i.Waiting(), i.Ended()}; got != want {
			t.Errorf("%s: waiting and ended are %v, want %v", state, got, want)
		}
	}
}

func TestParseSubmitted(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{"7\n": "7", "12;lab\n": "12", "sbatch: lua: ok\n9\n": "9"} {
		if got, err := ParseSubmitted([]byte(raw)); err != nil || got != want {
			t.Errorf("%q: %q, %v", raw, got, err)
		}
	}
	for _, bad := range []string{"", "\n", "Submitted batch job seven\n", "7x\n", "-7\n"} {
		if got, err := ParseSubmitted([]byte(bad)); err == nil {
			t.Errorf("%q: %q", bad, got)
		}
	}
}

func TestParseLastState(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]JobState{"7|FAILED\n": {"7", "FAILED"}, "10|NODE_FAIL\n9|COMPLETED\n": {"10", "NODE_FAIL"}, "9|COMPLETED\n10|PREEMPTED\n": {"10", "PREEMPTED"}} {
		if got, err := ParseLastState([]byte(raw)); err != nil || got != want {
			t.Errorf("%q: %+v, %v", raw, got, err)
		}
	}
	for _, bad := range []string{"", "\n", "7|\n", "x|FAILED\n", "7|failed\n", "7 FAILED\n"} {
		if got, err := ParseLastState([]byte(bad)); err == nil {
			t.Errorf("%q: %+v", bad, got)
		}
	}
}
