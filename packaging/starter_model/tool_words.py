"""Words that arguments and tools are made of."""

# Cities and their time zones.
ZONES = (
    ("Berlin", "Europe/Berlin"), ("London", "Europe/London"), ("Paris", "Europe/Paris"),
    ("Madrid", "Europe/Madrid"), ("Rome", "Europe/Rome"), ("Vienna", "Europe/Vienna"),
    ("Zurich", "Europe/Zurich"), ("Moscow", "Europe/Moscow"), ("Stockholm", "Europe/Stockholm"),
    ("Oslo", "Europe/Oslo"), ("Lisbon", "Europe/Lisbon"), ("Athens", "Europe/Athens"),
    ("Istanbul", "Europe/Istanbul"), ("New York", "America/New_York"), ("Chicago", "America/Chicago"),
    ("Denver", "America/Denver"), ("Los Angeles", "America/Los_Angeles"), ("Toronto", "America/Toronto"),
    ("Tokyo", "Asia/Tokyo"), ("Seoul", "Asia/Seoul"), ("Shanghai", "Asia/Shanghai"),
    ("Singapore", "Asia/Singapore"), ("Dubai", "Asia/Dubai"), ("Sydney", "Australia/Sydney"),
    ("Cairo", "Africa/Cairo"), ("UTC", "Etc/UTC"),
)  # fmt: skip
CITIES = (
    "Amsterdam", "Boston", "Bremen", "Cologne", "Dublin", "Florence", "Geneva", "Hamburg", "Helsinki",
    "Kyoto", "Lima", "Lyon", "Miami", "Milan", "Munich", "Naples", "Nice", "Porto", "Prague", "Quito",
    "San Francisco", "Seattle", "Turin", "Warsaw", "Buenos Aires", "Hong Kong", "Cape Town", "Bern",
    "Leeds", "Oxford",
)  # fmt: skip
LANGUAGES = (
    "French", "German", "Spanish", "Italian", "English", "Japanese", "Chinese", "Russian", "Dutch",
    "Polish", "Latin", "Greek", "Turkish", "Arabic", "Korean", "Swedish",
)  # fmt: skip
NOUNS = (
    "order", "customer", "ticket", "recipe", "user", "task", "event", "meeting", "photo", "song", "book",
    "parcel", "flight", "train", "hotel", "booking", "account", "payment", "server", "alert", "branch",
    "issue", "product", "invoice", "contact", "project", "team", "member", "device", "sensor", "lamp",
    "room", "door", "car", "bus", "movie", "artist", "album", "game", "player", "score", "map", "route",
    "station", "shop", "bill", "contract", "report", "table", "record", "job", "queue", "backup", "disk",
    "printer", "camera", "clock", "calendar", "reminder", "bookmark", "tag", "label", "list", "address",
    "phone number", "birthday", "height", "weight", "age", "colour", "size", "speed", "distance", "capital",
    "population", "owner", "author", "title", "status", "balance", "temperature", "level", "limit",
    "licence", "version", "salary", "password", "plant", "animal", "dog", "cat", "tree", "river", "bridge",
    "city", "country", "school", "class", "teacher", "student", "lesson", "exam", "letter", "parking lot",
    "garden", "kitchen", "wine", "coffee", "pizza", "cake", "menu", "workout", "playlist", "podcast",
    "newsletter", "subscription", "delivery", "solar panel", "battery", "robot", "satellite", "star",
)  # fmt: skip
VERBS = (
    "create", "delete", "open", "close", "start", "stop", "cancel", "book", "buy", "sell", "send", "print",
    "copy", "archive", "approve", "reject", "restart", "lock", "unlock", "update", "upload", "share",
    "mark", "rename", "check", "order", "repair", "water", "feed", "clean", "paint", "move", "hide",
    "pause", "count", "export", "import", "merge", "publish", "sign",
)  # fmt: skip
STEMS = (
    "notes", "todo", "report", "readme", "README", "main", "index", "budget", "invoice", "photo", "letter",
    "data", "config", "docs", "src", "anna", "projects", "Downloads", "Documents", "work", "test", "backup",
    "music", "app", "plan",
)  # fmt: skip
EXTENSIONS = (
    "txt", "md", "py", "csv", "json", "pdf", "log", "html", "toml", "docx", "yaml", "xml", "js", "c",
)  # fmt: skip
DOMAINS = ("org", "com", "net", "de", "io", "dev", "fr", "co.uk")
