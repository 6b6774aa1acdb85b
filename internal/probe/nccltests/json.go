package nccltests

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// maxJSON is the longest -J report that is read.
const maxJSON = 64 << 20

// ParseJSON reads the report that -J writes.
func ParseJSON(r io.Reader) (Run, error) {
	return guard.Parse("nccl-tests report", func() (Run, error) { return parseJSON(r) })
}

func parseJSON(r io.Reader) (Run, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxJSON+1))
	if err != nil {
		return Run{}, fmt.Errorf("read nccl-tests report: %w", err)
	}
	if len(data) > maxJSON {
		return Run{}, fmt.Errorf("nccl-tests report is longer than %d bytes", maxJSON)
	}
	var rep report
	if err := json.Unmarshal(data, &rep); err != nil {
		return Run{}, fmt.Errorf("nccl-tests report: %w", err)
	}
	return rep.run()
}

type report struct {
	Version int      `json:"version"`
	NCCL    int      `json:"nccl_version"`
	Args    []string `json:"args"`
	Config  struct {
		MinBytes   int64          `json:"minimum_bytes"`
		MaxBytes   int64          `json:"maximum_bytes"`
		StepFactor int64          `json:"step_factor"`
		StepBytes  int64          `json:"step_bytes"`
		Validation *int           `json:"validation"`
		Devices    []reportDevice `json:"devices"`
	} `json:"config"`
	Devices []reportDevice `json:"devices"`
	Results []reportRow    `json:"results"`
	Bounds  *struct {
		Count int64 `json:"count"`
	} `json:"out_of_bounds"`
	Average *struct {
		Bandwidth figure `json:"bandwidth"`
	} `json:"average_bus_bandwidth"`
	Errors []string `json:"errors"`
}

type reportDevice struct {
	Rank   int    `json:"rank"`
	Group  int    `json:"group"`
	PID    int    `json:"pid"`
	Host   string `json:"hostname"`
	Device int    `json:"device"`
	BusID  string `json:"device_hex"`
	Name   string `json:"device_info"`
}

type reportRow struct {
	Size       int64       `json:"size"`
	Count      int64       `json:"count"`
	Type       string      `json:"type"`
	RedOp      string      `json:"redop"`
	Root       string      `json:"root"`
	OutOfPlace *reportSide `json:"out_of_place"`
	InPlace    *reportSide `json:"in_place"`
}

type reportSide struct {
	Time    *figure `json:"time"`
	CPUTime *figure `json:"cpu_time"`
	AlgBW   *figure `json:"alg_bw"`
	BusBW   *figure `json:"bus_bw"`
	NWrong  *figure `json:"nwrong"`
}

// figure is a number that the report writes as "nan" when it is none; it is
// NaN then, and no row with one is kept.
type figure float64

func (f *figure) UnmarshalJSON(data []byte) error {
	v, err := toFloat(strings.Trim(string(data), `"`))
	if err != nil {
		v = math.NaN()
	}
	*f = figure(v)
	return nil
}

func (f *figure) good() bool { return f != nil && !math.IsNaN(float64(*f)) }

func (rep report) run() (Run, error) {
	if rep.Version == 0 && len(rep.Results) == 0 {
		return Run{}, ErrNoRun
	}
	run := Run{
		NCCLVersion: rep.NCCL, MinBytes: rep.Config.MinBytes, MaxBytes: rep.Config.MaxBytes,
		StepFactor: rep.Config.StepFactor, StepBytes: rep.Config.StepBytes, Validation: rep.Config.Validation,
		Errors: rep.Errors,
	}
	if len(rep.Args) > 0 {
		run.Test = rep.Args[0][strings.LastIndexByte(rep.Args[0], '/')+1:]
	}
	for _, d := range append(rep.Config.Devices, rep.Devices...) {
		run.Devices = append(run.Devices, Device(d))
	}
	for i, r := range rep.Results {
		row, err := r.row()
		if err != nil {
			run.Problems = append(run.Problems, fmt.Sprintf("result %d: %v", i, err))
			continue
		}
		run.Rows = append(run.Rows, row)
	}
	if rep.Bounds != nil {
		run.OutOfBounds = &rep.Bounds.Count
	}
	if rep.Average != nil && rep.Average.Bandwidth.good() {
		avg := float64(rep.Average.Bandwidth)
		run.AvgBusBW = &avg
	}
	return run, nil
}

func (r reportRow) row() (Row, error) {
	row := Row{Bytes: r.Size, Count: r.Count, Type: r.Type, RedOp: r.RedOp, Root: -1}
	if root, err := strconv.Atoi(strings.TrimSpace(r.Root)); err == nil {
		row.Root = root
	}
	for _, half := range []struct {
		from *reportSide
		to   **Side
	}{{r.OutOfPlace, &row.OutOfPlace}, {r.InPlace, &row.InPlace}} {
		if half.from == nil {
			continue
		}
		side, err := half.from.side()
		if err != nil {
			return Row{}, err
		}
		*half.to = &side
	}
	if len(row.Sides()) == 0 {
		return Row{}, fmt.Errorf("size %d has no figures", r.Size)
	}
	return row, nil
}

func (s reportSide) side() (Side, error) {
	took := s.Time
	if took == nil {
		took = s.CPUTime
	}
	if !took.good() || !s.AlgBW.good() || !s.BusBW.good() {
		return Side{}, fmt.Errorf("time, alg_bw or bus_bw is missing")
	}
	side := Side{TimeUS: float64(*took), AlgBW: float64(*s.AlgBW), BusBW: float64(*s.BusBW)}
	if s.NWrong.good() {
		n := int64(math.Ceil(math.Min(float64(*s.NWrong), 1<<53)))
		side.Wrong = &n
	}
	return side, nil
}
