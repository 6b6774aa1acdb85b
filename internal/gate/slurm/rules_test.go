package slurm

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

func TestStackRules(t *testing.T) {
	t.Parallel()
	g, obs, _ := stack(t, nil)
	state := func(text string, flags ...string) []checktest.Change {
		return []checktest.Change{checktest.Set(kindNodes, `.nodes[1].state`, text), checktest.Set(kindNodes, `.nodes[1].flags`, flags), checktest.Set(kindNodes, `.nodes[1].reason`, "a fan")}
	}
	checktest.Rules(t, judgeOf(g), obs, []checktest.Rule{
		checktest.When("every slurmctld answers", checktest.Set(kindPing, `[0].up`, false)).Fails("slurmctld login", "does not answer"),
		checktest.When("one slurmctld is listed", checktest.Set(kindPing, `[0]`, checktest.LeftOut)).Unobserved("slurmctld", "no slurmctld is listed"),
		checktest.When("a prolog is configured", checktest.Set(kindConfig, `.prolog`, []string{})).Fails("slurm.conf Prolog", "no Prolog"),
		checktest.When("an epilog is configured", checktest.Set(kindConfig, `.epilog`, []string{})).Fails("slurm.conf Epilog", "no Epilog"),
		checktest.When("the partition exists", checktest.Set(kindPartitions, `[0].name`, "cpu")).Fails("partition batch", "not found"),
		checktest.When("the partition starts jobs", checktest.Set(kindPartitions, `[0].state`, "DRAIN")).Fails("partition batch", "is DRAIN, want UP"),
		checktest.When("srun has Pyxis", checktest.Set(kindHelp, `.pyxis`, false)).Fails("Pyxis", "no option --container-image"),
		checktest.When("every node exists", checktest.Set(kindNodes, `.nodes[2]`, checktest.LeftOut)).Fails("gpu-03", "is not a node of the cluster"),
		checktest.When("a node is not drained", state("IDLE", "DRAIN")...).Fails("gpu-02", "IDLE+DRAIN, want IDLE: a fan"),
		checktest.When("a node is not failing", state("IDLE", "FAIL")...).Fails("gpu-02", "IDLE+FAIL"),
		checktest.When("a node answers", state("IDLE", "NOT_RESPONDING")...).Fails("gpu-02", "NOT_RESPONDING"),
		checktest.When("a node is powered", state("IDLE", "CLOUD", "POWERED_DOWN")...).Fails("gpu-02", "POWERED_DOWN"),
		checktest.When("a node is not rebooting", state("IDLE", "REBOOT_ISSUED")...).Fails("gpu-02", "REBOOT_ISSUED"),
		checktest.When("a node is not down", state("DOWN")...).Fails("gpu-02", "DOWN, want IDLE: a fan"),
		checktest.When("a node is known", state("UNKNOWN")...).Fails("gpu-02", "UNKNOWN"),
		checktest.When("a node in use is not judged", state("ALLOCATED")...).Unobserved("gpu-02", "it runs jobs"),
		checktest.When("a node partly in use is not judged", state("MIXED")...).Unobserved("gpu-02", "it runs jobs"),
		checktest.When("a reserved node is not judged", state("IDLE", "RESERVED")...).Unobserved("gpu-02", "it is reserved"),
		checktest.When("an unknown flag is not judged", state("IDLE", "TOASTED")...).Unobserved("gpu-02", "the state TOASTED is unknown"),
		checktest.When("an unknown state is not judged", state("PERHAPS")...).Unobserved("gpu-02", "PERHAPS, want IDLE"),
		checktest.When("a dynamic node is a node", state("IDLE", "CLOUD", "DYNAMIC_NORM")...).Passes(),
		checktest.When("a node has its GPUs", checktest.Set(kindNodes, `.nodes[0].gres[0].count`, 7)).Fails("gpu-01", "gpu:h100:7, want gpu:h100:8"),
		checktest.When("a node has no more GPUs", checktest.Set(kindNodes, `.nodes[0].gres[0].count`, 9)).Fails("gpu-01", "gpu:h100:9"),
		checktest.When("GPUs are of the type", checktest.Set(kindNodes, `.nodes[0].gres[0].type`, "a100")).Fails("gpu-01", "gpu:a100:8"),
		checktest.When("GPUs are generic resources", checktest.Set(kindNodes, `.nodes[0].gres`, []any{})).Fails("gpu-01", "resources none"),
		checktest.When("a node is in the partition", checktest.Set(kindNodes, `.nodes[0].partitions`, []string{"cpu"})).Fails("gpu-01", "partition cpu, not in partition batch"),
		checktest.When("the job ends well", checktest.Set(kindJob, `.exit`, 1), checktest.Set(kindJob, `.problem`, "srun: error: x")).Fails("job firstlight-gpustack-r1", "srun: error: x"),
		checktest.When("the job ends", checktest.Set(kindJob, `.timedOut`, true)).Fails("job firstlight-gpustack-r1", "the job failed"),
		checktest.When("the job runs on every node", checktest.Set(kindJob, `.tasks[0]`, checktest.LeftOut)).Fails("gpu-02", "printed nothing"),
		checktest.When("the job has all GPUs", checktest.Set(kindJob, `.tasks[0].gpus`, 7)).Fails("gpu-02", "has 7 GPUs on gpu-02, want 8"),
		checktest.When("enroot is on every node", checktest.Set(kindJob, `.tasks[0].enroot`, "")).Fails("gpu-02", "enroot not found"),
		checktest.When("the next job may run on a node", checktest.Set(kindAfter, `.nodes[2].state`, "ALLOCATED"), checktest.Set(kindAfter, `.nodes[1].state`, "MIXED")).Passes(),
		checktest.When("the next job does not hide a drained node", checktest.Set(kindAfter, `.nodes[2].state`, "MIXED"), checktest.Set(kindAfter, `.nodes[2].flags`, []string{"DRAIN"})).Fails("gpu-03", "MIXED+DRAIN"),
		checktest.When("the next job does not hide a node without an answer", checktest.Set(kindAfter, `.nodes[2].state`, "ALLOCATED"), checktest.Set(kindAfter, `.nodes[2].flags`, []string{"NOT_RESPONDING"})).Fails("gpu-03", "ALLOCATED+NOT_RESPONDING"),
		checktest.When("a node is up after the job", checktest.Set(kindAfter, `.nodes[2].state`, "DOWN")).Fails("gpu-03", "DOWN"),
		checktest.When("the job leaves nodes as they were", checktest.Set(kindAfter, `.nodes[2].flags`, []string{"DRAIN"})).Fails("gpu-03", "IDLE+DRAIN"),
	})
}

func TestAccountingRules(t *testing.T) {
	t.Parallel()
	g, obs, _ := accounting(t, nil)
	down := func(text string) []checktest.Change {
		return []checktest.Change{checktest.Set(kindRecord, `.exit`, 1), checktest.Set(kindRecord, `.problem`, text)}
	}
	checktest.Rules(t, judgeOf(g), obs, []checktest.Rule{
		checktest.When("records are kept", checktest.Set(kindConfig, `.accountingStorage`, "")).Fails("slurm.conf AccountingStorageType", ", want slurmdbd"),
		checktest.When("records are kept in a database", checktest.Set(kindConfig, `.accountingStorage`, "accounting_storage/filetxt")).Fails("slurm.conf AccountingStorageType", "filetxt"),
		checktest.When("slurmdbd answers", down("sacct: error: Problem talking to the database: Connection refused")...).Fails("slurmdbd", "does not answer"),
		checktest.When("another error of sacct says nothing", down("sacct: fatal: Bad job/step specified")...).Unobserved("sacct", "exited with code 1"),
		checktest.When("a job has a record", checktest.Set(kindRecord, `.records`, []any{})).Fails("slurmdbd", "no record of job 1"),
		checktest.When("it is the job's", checktest.Set(kindRecord, `.records[0].job`, "2")).Fails("slurmdbd", "no record of job 1"),
		checktest.When("the job's name is recorded", checktest.Set(kindRecord, `.name`, "")).Unobserved("sacct", "is not recorded"),
		checktest.When("it is not that of an old job with the same ID", checktest.Set(kindRecord, `.records[0].name`, "firstlight-telemetry-r0")).Fails("slurmdbd", "no record of job 1 firstlight-telemetry-r1 after 0s: job 1 there is firstlight-telemetry-r0"),
		checktest.When("the record is complete", checktest.Set(kindRecord, `.records[0].state`, "RUNNING")).Fails("slurmdbd", "state RUNNING"),
		checktest.When("the record has the exit code", checktest.Set(kindRecord, `.records[0].exit`, "1:0")).Fails("slurmdbd", "exit code 1:0"),
		checktest.When("the record has the nodes", checktest.Set(kindRecord, `.records[0].nodes`, 2)).Fails("slurmdbd", "has 2 nodes, want 3"),
		checktest.When("the record has the GPUs", checktest.Set(kindRecord, `.records[0].gpus`, 0)).Fails("slurm.conf AccountingStorageTRES", "has 0 GPUs, want 24"),
		checktest.When("the job ran", checktest.Set(kindJob, `.exit`, 1)).Unobserved("job firstlight-telemetry-r1", "did not run"),
		checktest.When("the job ended", checktest.Set(kindJob, `.timedOut`, true)).Unobserved("job firstlight-telemetry-r1", "did not run"),
	})
}

func TestEveryFieldOfStack(t *testing.T) {
	t.Parallel()
	g, obs, _ := stack(t, nil)
	checktest.EveryField(t, "stack", judgeOf(g), obs, harmlessStack)
}

func TestEveryFieldOfAccounting(t *testing.T) {
	t.Parallel()
	g, obs, _ := accounting(t, nil)
	checktest.EveryField(t, "accounting", judgeOf(g), obs, checktest.Harmless{
		"it is shown, or explains a failure":      {`scontrol-config@.* .(accountingTRES|cluster|controllers|gresTypes|version).*: .*`, `sacct@.* .(job|waitedSeconds): .*`},
		"gate gpustack judges prolog and epilog":  {`scontrol-config@.* .(prolog|epilog|prologFlags).*: .*`},
		"gate gpustack judges the tasks of a job": {`srun@.* .tasks.*: .*`},
		"no exit code is 0 in JSON":               {`.* .exit: left out`},
		"said twice is not more":                  {`sacct@.* .records: the first twice`},
	})
}

var harmlessStack = checktest.Harmless{
	"it is shown, or names what failed": {`scontrol-ping@.* .(host|role): .*`, `scontrol-config@.* .(accounting.*|cluster|controllers|gresTypes|prologFlags|version).*: .*`, `scontrol-partitions@.* .default: .*`, `scontrol-nodes.* .nodes.(host|version): .*`, `srun@.* .job: .*`},
	"any program is a prolog or epilog": {`scontrol-config@.* .(prolog|epilog): (""|another text)`},
	"any version of enroot":             {`srun@.* .tasks.enroot: another text`},
	"said twice is not more":            {`.*: the first twice`},
	"no exit code is 0 in JSON":         {`.* .exit: left out`},
}
