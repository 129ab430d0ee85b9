"""results.csv: one row per measurement, appended job by job, so that an interrupted run can go on."""
import csv
import os

# What a row can hold. Empty: does not apply. Times are milliseconds.
FIELDS = (
    "job subject name memory type M N K spheres width height threads ranks devices streams place "
    "device_index part_rows part_ms repetitions min_ms mean_ms median_ms max_ms end_to_end_ms in_ms "
    "compute_ms out_ms floor_ms other_ms rate rate_unit percent_of_limit ratio max_abs_error "
    "max_rel_error verdict predicted_ms takes plan bound measured_on backend device driver toolkit "
    "compiler processor cores sources date"
).split()

# What must be the same in all rows of one file: measurements of two machines are not mixed.
IDENTITY = ("backend", "device", "driver", "toolkit", "compiler", "processor", "cores", "sources")

INTEGERS = set(
    "M N K spheres width height threads ranks devices streams place device_index part_rows "
    "repetitions cores".split()
)
REALS = set(
    "part_ms min_ms mean_ms median_ms max_ms end_to_end_ms in_ms compute_ms out_ms floor_ms "
    "other_ms rate percent_of_limit ratio max_abs_error max_rel_error predicted_ms".split()
)


class StoreError(Exception):
    """results.csv cannot be used; the text says why."""


def encode(value):
    """A value as it stands in the file."""
    if value is None:
        return ""
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def decode(row):
    """A row of the file with its numbers as numbers, and None for what it does not have."""
    if None in row or None in row.values():
        raise ValueError("a line of another length")
    out = {}
    for field in FIELDS:
        kind = int if field in INTEGERS else float if field in REALS else str
        out[field] = None if row[field] == "" and kind is not str else kind(row[field])
    return out


class Store:
    """The rows measured so far, in memory and in the file."""

    def __init__(self, path):
        self.path = path
        self.rows = []
        if os.path.lexists(path):
            self.read()

    def read(self):
        """Takes over what a run before has left."""
        try:
            with open(self.path, newline="", encoding="utf-8") as file:
                reader = csv.DictReader(file, strict=True)
                if list(reader.fieldnames or []) != FIELDS:
                    raise StoreError(
                        f"'{self.path}' has not the columns of this report; --fresh measures anew"
                    )
                self.rows = [decode(row) for row in reader]
        except (OSError, UnicodeDecodeError) as error:
            raise StoreError(f"cannot read '{self.path}': {reason(error)}") from error
        except (ValueError, csv.Error) as error:
            raise StoreError(
                f"'{self.path}', line {reader.line_num}, cannot be understood; --fresh measures anew"
            ) from error

    def rewrite(self):
        """Writes the whole file anew, in one step."""
        beside = self.path + ".tmp"
        try:
            with open(beside, "w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(FIELDS)
                writer.writerows([encode(row[field]) for field in FIELDS] for row in self.rows)
            os.replace(beside, self.path)
        except OSError as error:
            raise StoreError(f"cannot write '{self.path}': {reason(error)}") from error

    def append(self, rows):
        """Adds the rows of one finished job, all or none of them."""
        before = self.rows
        self.rows = before + [decode({f: encode(row.get(f)) for f in FIELDS}) for row in rows]
        try:
            self.rewrite()
        except StoreError:
            self.rows = before
            raise

    def jobs(self):
        """The names of the jobs that are done."""
        return {row["job"] for row in self.rows}

    def other_machine(self, machine):
        """A sentence if the rows were measured elsewhere or with other sources, else None."""
        for row in self.rows:
            for field in IDENTITY:
                there, here = row[field], machine[field]
                if str(there) != str(here):
                    return f"'{self.path}' was measured with {field} '{there}', here it is '{here}'"
        return None


def reason(error):
    """Why, in the words of the system and without its number."""
    return getattr(error, "strerror", None) or str(error)
