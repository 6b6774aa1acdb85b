package recipe

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/schedule/fanout"
)

// boardShards is the title of the board's group of shards.
const boardShards = "shards"

// shardProgress shows the progress of shards: a row for all, and one for each shard that
// has started.
type shardProgress struct {
	board  *display.Board
	shards map[int]fanout.Progress
	total  int
}

// show updates the shards that changed. One goroutine calls it.
func (p *shardProgress) show(changed []fanout.Progress) {
	for _, c := range changed {
		was, known := p.shards[c.Shard]
		p.shards[c.Shard] = c
		if c.Phase == fanout.Waiting && (!known || was.Phase == fanout.Waiting) {
			continue
		}
		p.board.Set(boardShards, fmt.Sprintf("shard %d", c.Shard), shardState(c), c.Text)
	}
	p.board.Set(boardShards, "all", p.state(), p.text())
	if p.total > rowsShown {
		p.board.Fold(boardShards)
	}
}

// rowsShown is the most shards whose rows stay on the board after their end.
const rowsShown = 16

func shardState(p fanout.Progress) display.State {
	switch p.Phase {
	case fanout.Running:
		return display.Running
	case fanout.Failed:
		return display.Failed
	case fanout.Done:
		return cmdutil.StateOf(p.Verdict)
	case fanout.Waiting:
	}
	return display.Waiting
}

func (p *shardProgress) state() display.State {
	ended, failed := 0, false
	for _, s := range p.shards {
		if s.Phase == fanout.Done || s.Phase == fanout.Failed {
			ended++
			failed = failed || shardState(s) != display.Done
		}
	}
	switch {
	case ended < p.total:
		return display.Running
	case failed:
		return display.Failed
	}
	return display.Done
}

// text counts the shards by phase, with the most frequent reason for waiting.
func (p *shardProgress) text() string {
	count, waits := map[fanout.Phase]int{}, map[string]int{}
	for _, s := range p.shards {
		count[s.Phase]++
		if s.Phase == fanout.Waiting {
			waits[s.Text]++
		}
	}
	text := fmt.Sprintf("%d of %d done", count[fanout.Done], p.total)
	if n := count[fanout.Failed]; n > 0 {
		text += fmt.Sprintf(", %d given up", n)
	}
	if n := count[fanout.Running]; n > 0 {
		text += fmt.Sprintf(", %d running", n)
	}
	if n := count[fanout.Waiting]; n > 0 {
		text += fmt.Sprintf(", %d waiting %s", n, mostFrequent(waits))
	}
	return text
}

// mostFrequent is the key with the highest count; ties break by name.
func mostFrequent(counts map[string]int) string {
	var texts []string
	for text := range counts {
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		return ""
	}
	return slices.MinFunc(texts, func(a, b string) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b)) })
}
