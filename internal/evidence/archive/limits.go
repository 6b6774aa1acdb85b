package archive

const (
	// maxProblems are kept of an archive: with more of them, reading it ends.
	maxProblems = 100
	// maxName is how long a name in an archive may be, in bytes; maxShown how much of one
	// is said.
	maxName  = 512
	maxShown = 200
)

// Limits bound what an archive may unpack to. Zero values are the defaults.
type Limits struct {
	Files int   // 100,000
	File  int64 // bytes of one: 256 MiB; an output that is kept has 64 at most
	Total int64 // bytes of all: 4 GiB
}

func (l Limits) withDefaults() Limits {
	if l.Files == 0 {
		l.Files = 100_000
	}
	if l.File == 0 {
		l.File = 256 << 20
	}
	if l.Total == 0 {
		l.Total = 4 << 30
	}
	return l
}
