//! The pinned date that a template's strftime_now sees: midnight of one day.

/// A day of the proleptic Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date {
    year: i32,
    month: u32,
    day: u32,
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const DAYS_BEFORE_MONTH: [u32; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

impl Date {
    /// From YYYY-MM-DD.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let shape = bytes.len() == 10
            && bytes.iter().enumerate().all(|(i, b)| match i {
                4 | 7 => *b == b'-',
                _ => b.is_ascii_digit(),
            });
        if !shape {
            return None;
        }
        let date = Self {
            year: text[0..4].parse().ok()?,
            month: text[5..7].parse().ok()?,
            day: text[8..10].parse().ok()?,
        };
        let valid = date.year > 0
            && (1..=12).contains(&date.month)
            && date.day >= 1
            && date.day <= date.days_in_month();
        valid.then_some(date)
    }

    fn is_leap(self) -> bool {
        self.year % 4 == 0 && (self.year % 100 != 0 || self.year % 400 == 0)
    }

    fn days_in_month(self) -> u32 {
        match self.month {
            2 => 28 + u32::from(self.is_leap()),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }

    /// 1 on January 1.
    fn day_of_year(self) -> u32 {
        let leap_day = u32::from(self.month > 2 && self.is_leap());
        DAYS_BEFORE_MONTH[self.month as usize - 1] + leap_day + self.day
    }

    /// 0 on Sunday.
    fn weekday(self) -> u32 {
        let before = self.year - 1;
        let days = before * 365 + before / 4 - before / 100 + before / 400;
        // January 1 of year 1 was a Monday.
        ((days + self.day_of_year() as i32) % 7) as u32
    }

    /// Python's strftime as glibc's C locale has it; an unknown directive stands as it is.
    pub fn format(self, format: &str) -> String {
        let mut out = String::new();
        let mut chars = format.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                out.push(c);
                continue;
            }
            let rest = chars.clone();
            let mut flag = None;
            let mut directive = chars.next();
            if let Some(f @ ('-' | '_' | '0' | '^')) = directive {
                flag = Some(f);
                directive = chars.next();
            }
            match directive.and_then(|d| self.directive(d, flag)) {
                Some(text) => out.push_str(&text),
                None => {
                    out.push('%');
                    chars = rest;
                }
            }
        }
        out
    }

    fn directive(self, directive: char, flag: Option<char>) -> Option<String> {
        let number = |value: u32, width: usize, fill: char| match flag {
            Some('-') => value.to_string(),
            Some('_') => format!("{value:>width$}"),
            Some('0') => format!("{value:0>width$}"),
            _ if fill == ' ' => format!("{value:>width$}"),
            _ => format!("{value:0>width$}"),
        };
        let (weekday, month) = (self.weekday(), MONTHS[self.month as usize - 1]);
        let day_name = WEEKDAYS[weekday as usize];
        let year = self.year as u32;
        let text = match directive {
            'd' => number(self.day, 2, '0'),
            'e' => number(self.day, 2, ' '),
            'm' => number(self.month, 2, '0'),
            'y' => number(year % 100, 2, '0'),
            'Y' => year.to_string(),
            'C' => number(year / 100, 2, '0'),
            'j' => number(self.day_of_year(), 3, '0'),
            'B' => month.to_owned(),
            'b' | 'h' => month[..3].to_owned(),
            'A' => day_name.to_owned(),
            'a' => day_name[..3].to_owned(),
            'w' => weekday.to_string(),
            'u' => (if weekday == 0 { 7 } else { weekday }).to_string(),
            'H' | 'M' | 'S' => number(0, 2, '0'),
            'k' => number(0, 2, ' '),
            'I' => number(12, 2, '0'),
            'l' => number(12, 2, ' '),
            'p' => "AM".to_owned(),
            'P' => "am".to_owned(),
            'f' => "000000".to_owned(),
            'U' => number((self.day_of_year() + 6 - weekday) / 7, 2, '0'),
            'W' => number((self.day_of_year() + 6 - (weekday + 6) % 7) / 7, 2, '0'),
            'D' | 'x' => self.format("%m/%d/%y"),
            'F' => self.format("%Y-%m-%d"),
            'T' | 'X' => "00:00:00".to_owned(),
            'R' => "00:00".to_owned(),
            'r' => "12:00:00 AM".to_owned(),
            'c' => self.format("%a %b %e %H:%M:%S %Y"),
            'z' | 'Z' => String::new(),
            'n' => "\n".to_owned(),
            't' => "\t".to_owned(),
            '%' => "%".to_owned(),
            _ => return None,
        };
        Some(if flag == Some('^') { text.to_uppercase() } else { text })
    }
}

#[cfg(test)]
mod tests {
    use super::Date;

    #[test]
    fn refuses_what_is_no_day() {
        for text in ["", "2024-13-01", "2023-02-29", "2024-1-01", "24-01-01", "2024-01-00", "x"] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
        assert!(Date::parse("2024-02-29").is_some());
    }

    #[test]
    fn formats_as_python_does() {
        let date = Date::parse("2024-07-26").unwrap();
        assert_eq!(date.format("%d %b %Y"), "26 Jul 2024");
        assert_eq!(
            date.format("%A, %B %-d, %Y (%j) %H:%M %Q%%"),
            "Friday, July 26, 2024 (208) 00:00 %Q%"
        );
        assert_eq!(Date::parse("2000-01-01").unwrap().format("%a %U %W"), "Sat 00 00");
    }
}
