package archive

// Limits bound what an archive may unpack to. Zero values are the defaults.
type Limits struct {
	Files int   // 100,000
	File  int64 // bytes of one: 1 GiB
	Total int64 // bytes of all: 8 GiB
}

func (l Limits) withDefaults() Limits {
	if l.Files == 0 {
		l.Files = 100_000
	}
	if l.File == 0 {
		l.File = 1 << 30
	}
	if l.Total == 0 {
		l.Total = 8 << 30
	}
	return l
}
