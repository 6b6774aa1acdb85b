package nccl

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// defaultColumns is the header since 2.11, for a log without header.
var defaultColumns = []string{
	"size", "count", "type", "redop", "root",
	"time", "algbw", "busbw", "#wrong", "time", "algbw", "busbw", "#wrong",
}

// parseRow parses one row of the table with the given columns. The column names of the two
// halves are equal. Unknown columns (per-iteration figures, timestamps) are ignored. inPlace
// is the half of a table that has only one.
func parseRow(columns []string, text string, inPlace bool) (Row, error) {
	if len(columns) == 0 {
		columns = defaultColumns
	}
	fields := rowFields(columns, text)
	half := slices.IndexFunc(columns, isTime)
	if half < 0 {
		return Row{}, errors.New("the header has no time column")
	}
	second := half + 1 + slices.IndexFunc(columns[half+1:], isTime)
	var row Row
	if err := row.head(columns[:half], fields); err != nil {
		return Row{}, err
	}
	mismatch := fmt.Errorf("%d fields for %d columns", len(fields), len(columns))
	switch {
	case second == half && len(fields) != len(columns):
		return Row{}, mismatch
	case second == half:
		side, err := parseSide(columns[half:], fields[half:])
		if err != nil {
			return Row{}, err
		}
		if inPlace {
			row.InPlace = &side
		} else {
			row.OutOfPlace = &side
		}
		return row, nil
	case len(fields) == len(columns):
		out, err := parseSide(columns[half:second], fields[half:second])
		if err != nil {
			return Row{}, err
		}
		row.OutOfPlace = &out
		fields = fields[second:]
	case len(fields) == len(columns)-(second-half) && blank.MatchString(text):
		fields = fields[half:] // in-place only, as in a trace replay
	default:
		return Row{}, mismatch
	}
	in, err := parseSide(columns[second:], fields)
	if err != nil {
		return Row{}, err
	}
	row.InPlace = &in
	return row, nil
}

// blank matches an empty half; a truncated row has none.
var blank = regexp.MustCompile(`\s{20}`)

// rowFields returns one field per column: a timestamp at the end has two words, and old
// tests without an operation print an empty redop column.
func rowFields(columns []string, text string) []string {
	fields := strings.Fields(text)
	if i := slices.Index(columns, "timestamp"); i >= 0 && i == len(columns)-1 && len(fields) == len(columns)+1 {
		fields = fields[:len(fields)-1]
	}
	if i := slices.Index(columns, "redop"); i >= 0 && len(fields) == len(columns)-1 {
		if _, err := strconv.ParseFloat(fields[i], 64); err == nil {
			fields = slices.Insert(fields, i, "")
		}
	}
	return fields
}

func isTime(column string) bool { return column == "time" || column == "cputime" }

func (r *Row) head(columns, fields []string) error {
	if len(fields) < len(columns) {
		return fmt.Errorf("%d fields for %d columns", len(fields), len(columns))
	}
	r.Root = -1
	for i, column := range columns {
		var err error
		switch column {
		case "size":
			r.Bytes, err = strconv.ParseInt(fields[i], 10, 64)
		case "count":
			r.Count, err = strconv.ParseInt(fields[i], 10, 64)
		case "type":
			r.Type = fields[i]
		case "redop":
			r.RedOp = fields[i]
		case "root":
			r.Root, err = strconv.Atoi(fields[i])
		}
		if err != nil {
			return fmt.Errorf("invalid %s %.40q: must be a number", column, fields[i])
		}
	}
	if r.Bytes < 0 || r.Count < 0 {
		return fmt.Errorf("negative size or count")
	}
	return nil
}

func parseSide(columns, fields []string) (Side, error) {
	var s Side
	figures := 0
	for i, column := range columns {
		if i >= len(fields) {
			break
		}
		var err error
		switch column {
		case "time", "cputime":
			s.TimeUS, err = toFloat(fields[i])
		case "algbw":
			s.AlgBW, err = toFloat(fields[i])
		case "busbw":
			s.BusBW, err = toFloat(fields[i])
		case "#wrong":
			s.Wrong, err = wrongCount(fields[i])
		default:
			continue // "error" of old versions is a deviation, not a count: not validated
		}
		if err != nil {
			return Side{}, fmt.Errorf("%s: %w", column, err)
		}
		if column != "#wrong" {
			figures++
		}
	}
	if figures != 3 {
		return Side{}, fmt.Errorf("time, algbw or busbw is missing")
	}
	return s, nil
}

// wrongCount parses "0", "1.5e+06" or "N/A".
func wrongCount(field string) (*int64, error) {
	if field == "N/A" {
		return nil, nil
	}
	v, err := toFloat(field)
	if err != nil {
		return nil, err
	}
	n := int64(v)
	if v > 0 && n <= 0 {
		n = 1
	}
	return &n, nil
}
