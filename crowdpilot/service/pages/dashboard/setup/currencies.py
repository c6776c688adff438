"""Currencies that the form offers, by their code of ISO 4217."""

from __future__ import annotations

CURRENCIES = (
    "EUR", "USD", "GBP", "CHF", "AED", "ARS", "AUD", "BDT", "BGN", "BRL", "CAD", "CLP", "CNY", "COP", "CZK",
    "DKK", "EGP", "GHS", "HKD", "HUF", "IDR", "ILS", "INR", "ISK", "JPY", "KES", "KRW", "LKR", "MAD", "MXN",
    "MYR", "NGN", "NOK", "NPR", "NZD", "PEN", "PHP", "PKR", "PLN", "QAR", "RON", "RSD", "SAR", "SEK", "SGD",
    "THB", "TND", "TRY", "TWD", "TZS", "UAH", "UGX", "UYU", "VND", "ZAR",
)  # fmt: skip
